import type { Forecast } from '../../src/contract/forecast.ts'
import type { Translate } from '../texts/translate.ts'

/** "move 442, cancel 168": what a plan does to messages; empty if it does nothing. */
export const effectsOf = ({ move, cancel, create }: Forecast, t: Translate) =>
  [
    move > 0 && t('editor.saveMove', { count: move }),
    cancel > 0 && t('editor.saveCancel', { count: cancel }),
    create > 0 && t('editor.saveCreate', { count: create }),
  ]
    .filter((effect) => effect !== false)
    .join(', ')
