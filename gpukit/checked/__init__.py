"""Checked mode: launches that are watched, so that mistakes show and traffic is counted.

`check`, `profile/` and `play` are the three verbs; each runs a `launch` over `regions` of memory
with their `shadow` and decodes what the watch kept. `finding` lists the classes, `words/` says them
in sentences, `report/` shows them. `counters` names what is counted, `occupancy/`, `gpus` and
`registers/` know the hardware, `recording` and `player/` make the page that steps through a launch,
`process` watches whole scripts.
"""
