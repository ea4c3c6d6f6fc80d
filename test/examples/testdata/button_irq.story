scenario - {at: 1000ms, do: press BUTTON};- {at: 1050ms, do: release BUTTON};- {at: 1100ms, do: press BUTTON};- {at: 1150ms, do: release BUTTON};- {at: 1200ms, do: press BUTTON}
run button_irq.py
stdout presses: 3
level LED 1
