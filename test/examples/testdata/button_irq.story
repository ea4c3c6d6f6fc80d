scenario - {at: 100ms, do: press BUTTON};- {at: 150ms, do: release BUTTON};- {at: 200ms, do: press BUTTON};- {at: 250ms, do: release BUTTON};- {at: 300ms, do: press BUTTON}
run button_irq.py
stdout presses: 3
level LED 1
