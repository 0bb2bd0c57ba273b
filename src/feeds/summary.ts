import type { MirrorResult } from './mirror.ts'
import { showEntry } from './show-entry.ts'

const MAX_SAMPLES = 100

/** Adds up what became of the entries of a run, without keeping them. */
export class RunSummary {
  readonly counts = {
    entries: 0,
    created: 0,
    changed: 0,
    cancelled: 0,
    unchanged: 0,
    mirrored: 0,
    held: 0,
    skipped: 0,
  }
  readonly reasons: Record<string, number> = {}
  withAddress = 0
  readonly samples: ReturnType<typeof showEntry>[] = []

  add({ entries, withAddress, created, changed, cancelled, unchanged }: MirrorResult) {
    const { counts, reasons, samples } = this
    counts.entries += entries.length
    counts.created += created
    counts.changed += changed
    counts.cancelled += cancelled
    counts.unchanged += unchanged
    this.withAddress += withAddress
    for (const entry of entries) {
      const { state, reasonCode } = entry
      if (state === 'MIRRORED') counts.mirrored += 1
      if (state === 'HELD') counts.held += 1
      if (state === 'SKIPPED') counts.skipped += 1
      if (reasonCode) reasons[reasonCode] = (reasons[reasonCode] ?? 0) + 1
      if (samples.length < MAX_SAMPLES) samples.push(showEntry(entry))
    }
  }

  get hasChanges() {
    const { created, changed, cancelled } = this.counts
    return created + changed + cancelled > 0
  }

  show() {
    const { counts, reasons, withAddress, samples } = this
    return { counts, reasons, withAddress, samples }
  }
}
