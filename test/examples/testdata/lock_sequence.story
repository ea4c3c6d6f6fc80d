scenario - {at: 100ms, do: press BUTTON};- {at: 130ms, do: release BUTTON};- {at: 160ms, do: press BUTTON_B};- {at: 190ms, do: release BUTTON_B};- {at: 220ms, do: press BUTTON}
run lock_sequence.py
stdout open
effects RELAY_1 0>1>0
