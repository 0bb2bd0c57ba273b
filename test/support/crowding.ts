import { availableParallelism, loadavg } from 'node:os'

/** How many want each core of this machine: what others do beside us takes its time from ours. */
export const crowding = () => Math.max(1, loadavg()[0]! / availableParallelism())
