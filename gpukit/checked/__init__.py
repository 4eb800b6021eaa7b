"""Checked mode: launches that are instrumented, so that mistakes show and traffic is counted.

`check`, `profile/` and `play` are the three commands; each runs an `instrumented` launch over
`segments` of memory with their `shadow_memory` and decodes what the `engine/` kept. `finding` lists
the classes, `messages/` says them in sentences, `report/` shows them. `counters` names what is
counted, `occupancy/` and `gpus` know the hardware, `recording` and `player/` make the page that
steps through a launch, `process` checks whole scripts, `ordering/` follows streams and the host.
"""
