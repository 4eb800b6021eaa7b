"""Checked mode: instrumented launches that reveal mistakes and count memory traffic.

`check`, `profile/` and `play` are the three commands; each runs an `instrumented` launch over
`segments` of memory with their `shadow_memory` and decodes what the `engine/` recorded. `finding`
lists the classes of findings, `messages/` puts them into sentences, `report/` prints them.
`counters` names what is counted, `occupancy/` and `gpus` know the hardware, `recording` and
`player/` make the page that steps through a launch, `process` checks whole scripts, `ordering/`
tracks streams and the host.
"""
