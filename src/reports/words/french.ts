export const FRENCH: Record<string, string> = {}
