/** One difference between two versions, in words. */
export type Difference = { key: string; label: string; from: string; to: string }
