import { monotonicMs } from '../clock.ts'

export type Progress = { share: number; done: number }
type Report = (progress: Progress) => void

/** Runs long work and shows a progress bar with rate and remaining time if the output is a terminal. */
export async function withProgress<T>(
  title: string,
  unit: string,
  work: (report: Report) => Promise<T>,
): Promise<T> {
  if (!process.stderr.isTTY || !process.stdout.isTTY) return work(() => {})
  const show = (text: string) => process.stderr.write(`\r${text}\u001b[K`)
  const begin = monotonicMs()
  let shown = 0
  show(title)
  try {
    return await work((progress) => {
      const now = monotonicMs()
      if (now - shown < 100) return
      shown = now
      show(`${title}  ${lineOf(progress, (now - begin) / 1000, unit)}`)
    })
  } finally {
    process.stderr.write('\n')
  }
}

const WIDTH = 24

/** `████████░░░░░░░░  52 %  120,400 lines  8,012/s  0:14 left` */
export function lineOf({ share, done }: Progress, seconds: number, unit: string) {
  const filled = Math.min(WIDTH, Math.round(share * WIDTH))
  const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled)
  const percent = `${Math.floor(share * 100)} %`.padStart(5)
  const rate = Math.round(done / Math.max(seconds, 0.001)).toLocaleString('en')
  const left = share > 0 ? `  ${clockOf((seconds * (1 - share)) / share)} left` : ''
  return `${bar} ${percent}  ${done.toLocaleString('en')} ${unit}  ${rate}/s${left}`
}

function clockOf(seconds: number) {
  const whole = Math.round(seconds)
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  const two = (part: number) => String(part).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`
}
