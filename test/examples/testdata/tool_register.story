run tool_register.py
tool flash_led {"times":2,"pin":"LED_B"} 2
