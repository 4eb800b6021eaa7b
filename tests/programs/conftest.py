"""The programs import `numba.cuda` as their authors would; only the tests load them."""

collect_ignore_glob = ["[!t]*.py"]
