import type { ClassAnswer } from '../contract/fields.ts'
import type { MailContext } from '../contract/mail-context.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

/** The answer of a student, as mails to staff tell it. */
export type NamedAnswer = Pick<
  NonNullable<MailContext['classSchedule']>,
  'answeredBy' | 'answer' | 'answerNote'
>

type Asked = { businessId: number; objectId: number | null } & Pick<
  ClassAnswer,
  'clientId' | 'answer'
>

/** These answers in their order. The note of one that the student has changed since is gone. */
export const listAnswers = (db: Db, asked: Asked[]) =>
  db.query<NamedAnswer>(sql`
    select a.first_name || ' ' || a.last_name as "answeredBy", k.answer,
           (select one ->> 'note' from jsonb_array_elements(t.answers) one
            where (one ->> 'clientId')::bigint = k.client_id and one ->> 'answer' = k.answer) as "answerNote"
    from unnest(${asked.map(({ businessId }) => businessId)}::bigint[],
                ${asked.map(({ objectId }) => objectId)}::bigint[],
                ${asked.map(({ clientId }) => clientId)}::bigint[],
                ${asked.map(({ answer }) => answer)}::text[])
      with ordinality as k (business_id, class_schedule_id, client_id, answer, place)
    left join client a on a.business_id = k.business_id and a.client_id = k.client_id
    left join class_schedule t on t.business_id = k.business_id and t.class_schedule_id = k.class_schedule_id
    order by k.place`)
