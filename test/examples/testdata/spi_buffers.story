run spi_buffers.py
event user:spi "first":255
event user:spi "id":239
