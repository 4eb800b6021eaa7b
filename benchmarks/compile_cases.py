"""A program whose kernel calls many device functions: how far rotated boxes overlap."""

from __future__ import annotations

import math

import numpy as np

from gpukit import cuda

THREADS = 64
MOST = 16  # corners of two boxes and points where their sides cross
WORDS = 2 * MOST
BOX = 5  # centre x and y, width, height, angle
SHARE = THREADS * BOX


@cuda.jit(device=True)
def corners_of(box, corners):
    """Write the four corners of a box, x and y in turn, anticlockwise."""
    cos, sin = math.cos(box[4]), math.sin(box[4])
    across = cuda.local.array(4, np.float32)
    up = cuda.local.array(4, np.float32)
    for k in range(4):
        across[k] = box[2] / 2 if k == 0 or k == 3 else -box[2] / 2
        up[k] = box[3] / 2 if k < 2 else -box[3] / 2
    for k in range(4):
        corners[2 * k] = cos * across[k] - sin * up[k] + box[0]
        corners[2 * k + 1] = sin * across[k] + cos * up[k] + box[1]


@cuda.jit(device=True)
def cross(ax, ay, bx, by):
    """Return the third component of the cross product of two vectors."""
    return ax * by - ay * bx


@cuda.jit(device=True)
def is_inside(x, y, corners):
    """Return whether a point lies inside of a box, or on its sides."""
    abx, aby = corners[2] - corners[0], corners[3] - corners[1]
    adx, ady = corners[6] - corners[0], corners[7] - corners[1]
    apx, apy = x - corners[0], y - corners[1]
    along, over = abx * apx + aby * apy, adx * apx + ady * apy
    return (
        along >= 0
        and along <= abx * abx + aby * aby
        and over >= 0
        and (over <= adx * adx + ady * ady)
    )


@cuda.jit(device=True)
def crossing(first, second, i, j, point):
    """Write where side i of one box crosses side j of the other; return whether it does."""
    ax, ay = first[2 * i], first[2 * i + 1]
    bx, by = first[2 * ((i + 1) % 4)], first[2 * ((i + 1) % 4) + 1]
    cx, cy = second[2 * j], second[2 * j + 1]
    dx, dy = second[2 * ((j + 1) % 4)], second[2 * ((j + 1) % 4) + 1]
    if cross(cx - ax, cy - ay, dx - ax, dy - ay) * cross(cx - bx, cy - by, dx - bx, dy - by) >= 0:
        return False
    if cross(ax - cx, ay - cy, bx - cx, by - cy) * cross(ax - dx, ay - dy, bx - dx, by - dy) >= 0:
        return False
    t = cross(cx - ax, cy - ay, dx - cx, dy - cy) / cross(bx - ax, by - ay, dx - cx, dy - cy)
    point[0] = ax + t * (bx - ax)
    point[1] = ay + t * (by - ay)
    return True


@cuda.jit(device=True)
def common_points(first, second, points):
    """Write the corners of the polygon that two boxes share; return how many there are."""
    point = cuda.local.array(2, np.float32)
    found = 0
    for k in range(4):
        if is_inside(first[2 * k], first[2 * k + 1], second):
            points[2 * found] = first[2 * k]
            points[2 * found + 1] = first[2 * k + 1]
            found += 1
        if is_inside(second[2 * k], second[2 * k + 1], first):
            points[2 * found] = second[2 * k]
            points[2 * found + 1] = second[2 * k + 1]
            found += 1
    for i in range(4):
        for j in range(4):
            if found < MOST and crossing(first, second, i, j, point):
                points[2 * found] = point[0]
                points[2 * found + 1] = point[1]
                found += 1
    return found


@cuda.jit(device=True)
def sort_around(points, found):
    """Sort points by their angle as seen from their centre."""
    if found < 1:
        return
    x = y = np.float32(0)
    for k in range(found):
        x += points[2 * k]
        y += points[2 * k + 1]
    x /= found
    y /= found
    keys = cuda.local.array(MOST, np.float32)
    for k in range(found):
        across, up = points[2 * k] - x, points[2 * k + 1] - y
        length = math.sqrt(across * across + up * up)
        across = across / length if length > 0 else np.float32(0)
        keys[k] = -2 - across if up < 0 else across
    for k in range(1, found):
        key, px, py = keys[k], points[2 * k], points[2 * k + 1]
        m = k
        while m > 0 and keys[m - 1] > key:
            keys[m] = keys[m - 1]
            points[2 * m] = points[2 * m - 2]
            points[2 * m + 1] = points[2 * m - 1]
            m -= 1
        keys[m] = key
        points[2 * m] = px
        points[2 * m + 1] = py


@cuda.jit(device=True)
def area(points, found):
    """Return the area of a convex polygon, as the sum of the triangles of a fan."""
    total = np.float32(0)
    for k in range(1, found - 1):
        total += abs(
            cross(
                points[2 * k] - points[0],
                points[2 * k + 1] - points[1],
                points[2 * k + 2] - points[0],
                points[2 * k + 3] - points[1],
            )
        ) / np.float32(2)
    return total


@cuda.jit(device=True)
def shared_area(first, second):
    """Return the area that two boxes share."""
    corners = cuda.local.array(8, np.float32)
    others = cuda.local.array(8, np.float32)
    points = cuda.local.array(WORDS, np.float32)
    corners_of(first, corners)
    corners_of(second, others)
    found = common_points(corners, others, points)
    sort_around(points, found)
    return area(points, found)


@cuda.jit(device=True)
def overlap(first, second, criterion):
    """Return the shared area over that of both (criterion -1), of the first (0) or second (1)."""
    one, two = first[2] * first[3], second[2] * second[3]
    both = shared_area(first, second)
    if criterion == -1:
        return both / (one + two - both)
    if criterion == 0:
        return both / one
    if criterion == 1:
        return both / two
    return both


@cuda.jit
def rotated_overlap_kernel(boxes, others, criterion, out):
    """Write how far each box overlaps each other one, THREADS of both in a block."""
    tid = cuda.threadIdx.x
    col, row = cuda.blockIdx.x * THREADS, cuda.blockIdx.y * THREADS
    kept = cuda.shared.array(SHARE, np.float32)
    kept_others = cuda.shared.array(SHARE, np.float32)
    if row + tid < boxes.shape[0]:
        for k in range(BOX):
            kept[tid * BOX + k] = boxes[row + tid, k]
    if col + tid < others.shape[0]:
        for k in range(BOX):
            kept_others[tid * BOX + k] = others[col + tid, k]
    cuda.syncthreads()  # both shares are there
    if row + tid < boxes.shape[0]:
        for k in range(min(others.shape[0] - col, THREADS)):
            out[row + tid, col + k] = overlap(
                kept[tid * BOX : tid * BOX + BOX], kept_others[k * BOX : k * BOX + BOX], criterion
            )
