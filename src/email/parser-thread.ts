import { answerTasks } from '../parser-tasks.ts'
import { readMailReport } from './bounce.ts'
import { HTML_TASKS } from './read-html.ts'

/** The worker thread for HTML of templates and for reports about mails: see `parser-pool.ts`. */
answerTasks({ ...HTML_TASKS, report: readMailReport })
