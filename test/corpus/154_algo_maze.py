# Shortest way through a maze, drawn.
maze = """#########
#S..#...#
#.#.#.#.#
#.#...#.#
#.###.#.#
#...#.#E#
#########"""
grid = [list(r) for r in maze.split("\n")]
find = lambda ch: [(y, x) for y, row in enumerate(grid) for x, c in enumerate(row) if c == ch][0]
start, end = find("S"), find("E")
prev, frontier = {start: None}, [start]
while frontier and end not in prev:
    new = []
    for y, x in frontier:
        for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            p = (y + dy, x + dx)
            if p not in prev and grid[p[0]][p[1]] != "#":
                prev[p] = (y, x)
                new.append(p)
    frontier = new
steps, p = 0, prev[end]
while p != start:
    grid[p[0]][p[1]] = "o"
    steps += 1
    p = prev[p]
print(steps + 1)
print("\n".join("".join(r) for r in grid))
