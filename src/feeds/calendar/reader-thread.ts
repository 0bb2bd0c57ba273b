import { answerTasks } from '../../parser-tasks.ts'
import { readMultistatus } from '../sources/multistatus.ts'
import { readCalendar } from './read.ts'

/** The worker thread of `reader-pool.ts`. */
answerTasks({ calendar: readCalendar, multistatus: readMultistatus })
