import asyncio
import concurrent.futures


async def wait():
    await asyncio.sleep(1000)


def ring_all_reduce(group, array):
    """Run an event loop and a pool of processes in each rank."""
    with concurrent.futures.ProcessPoolExecutor(8) as pool:
        list(pool.map(abs, range(1000)))
    asyncio.run(wait())
    return array
