scenario - {at: 100ms, do: press BUTTON};- {at: 130ms, do: press BUTTON_B};- {at: 160ms, do: release BUTTON};- {at: 190ms, do: release BUTTON_B}
run irq_counter.py
event user:edges BUTTON"?.*BUTTON_B.*BUTTON.*BUTTON_B
