# Text displays with an HD44780. Commands: data sheet, table 6. A subclass knows how to reach one: hal_write_command,
# hal_write_data, and if it can hal_backlight_on and hal_backlight_off.
import time


class LcdApi:
    def __init__(self, num_lines, num_columns):
        self.num_lines = min(num_lines, 4)
        self.num_columns = min(num_columns, 40)
        self.cursor_x = 0
        self.cursor_y = 0
        self.implied_newline = False
        self.backlight = True
        self.display_off()
        self.backlight_on()
        self.clear()
        self.hal_write_command(0x06)  # each character to the right of the last
        self.hide_cursor()
        self.display_on()

    def clear(self):
        self.hal_write_command(0x01)
        self.hal_write_command(0x02)
        self.cursor_x = self.cursor_y = 0

    def show_cursor(self):
        self.hal_write_command(0x0E)

    def hide_cursor(self):
        self.hal_write_command(0x0C)

    def blink_cursor_on(self):
        self.hal_write_command(0x0F)

    def blink_cursor_off(self):
        self.hal_write_command(0x0E)

    def display_on(self):
        self.hal_write_command(0x0C)

    def display_off(self):
        self.hal_write_command(0x08)

    def backlight_on(self):
        self.backlight = True
        self.hal_backlight_on()

    def backlight_off(self):
        self.backlight = False
        self.hal_backlight_off()

    def move_to(self, cursor_x, cursor_y):
        """Column and line, from 0. Lines 2 and 3 are the second halves of 0 and 1."""
        self.cursor_x = cursor_x
        self.cursor_y = cursor_y
        at = cursor_x & 0x3F
        if cursor_y & 1:
            at += 0x40
        if cursor_y & 2:
            at += self.num_columns
        self.hal_write_command(0x80 | at)

    def putchar(self, char):
        if char == "\n":
            if not self.implied_newline:
                self.cursor_x = self.num_columns
        else:
            self.hal_write_data(ord(char))
            self.cursor_x += 1
        self.implied_newline = False
        if self.cursor_x >= self.num_columns:
            self.implied_newline = char != "\n"
            self.cursor_x = 0
            self.cursor_y = (self.cursor_y + 1) % self.num_lines
        if self.cursor_x == 0:
            self.move_to(self.cursor_x, self.cursor_y)

    def putstr(self, string):
        for char in string:
            self.putchar(char)

    def custom_char(self, location, charmap):
        """Makes chr(location), 0 to 7, look like the eight rows of charmap."""
        self.hal_write_command(0x40 | (location & 7) << 3)
        for row in charmap:
            self.hal_write_data(row)
        self.move_to(self.cursor_x, self.cursor_y)

    def hal_backlight_on(self):
        pass

    def hal_backlight_off(self):
        pass

    def hal_write_command(self, cmd):
        raise NotImplementedError

    def hal_write_data(self, data):
        raise NotImplementedError

    def hal_sleep_us(self, usecs):
        time.sleep_us(usecs)
