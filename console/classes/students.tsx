import { ActionIcon, SegmentedControl } from '@mantine/core'
import { useId } from 'react'
import { useTranslation } from '../texts/translate.ts'
import type { ClassFields } from '../api/objects.ts'
import { ClientSelect } from '../clients/client-select.tsx'
import { IconX } from '../components/icons.tsx'
import { ClientLink } from '../objects/object-parts.tsx'
import type { Form } from '../records/use-record.ts'

type Members = Pick<ClassFields, 'clientIdList' | 'attendance' | 'confirmedClientIdList'>

/** The students in the form of a class. */
export function Students({ form: { at, draft } }: { form: Form<ClassFields> }) {
  const { t } = useTranslation()
  const students = at('clientIdList')
  const add = (clientId: number) => {
    if (!students.value.includes(clientId)) students.onChange([...students.value, clientId])
  }
  return (
    <div className="column" style={{ gap: 12 }}>
      <StudentList
        {...draft}
        onPresent={(clientId, present) =>
          at('attendance').onChange([
            ...draft.attendance.filter((one) => one.clientId !== clientId),
            { clientId, present },
          ])
        }
        // The service removes the student from the attendance, too.
        onRemove={(clientId) => students.onChange(students.value.filter((id) => id !== clientId))}
      />
      <ClientSelect
        // Empty again after each student.
        key={students.value.length}
        label={t('classes.addStudent')}
        value={undefined}
        error={students.error || undefined}
        onChange={add}
      />
    </div>
  )
}

type ListProps = Members & {
  /** Absent for users who may not change it. */
  onPresent?: (clientId: number, present: boolean) => void
  onRemove?: (clientId: number) => void
}

/** Who takes part, who confirmed by the link in a mail, and who was present. */
export function StudentList({ clientIdList, attendance, confirmedClientIdList, ...on }: ListProps) {
  const { t } = useTranslation()
  const presence = new Map(attendance.map(({ clientId, present }) => [clientId, present]))
  if (clientIdList.length === 0) return <p className="soft small">{t('classes.noStudents')}</p>
  return (
    <table className="table">
      <thead>
        <tr>
          <th scope="col">{t('classes.student')}</th>
          <th scope="col">{t('classes.confirmed')}</th>
          <th scope="col">{t('classes.present')}</th>
          <th>
            <span className="visually-hidden">{t('form.actions')}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {clientIdList.map((clientId) => (
          <Student
            key={clientId}
            clientId={clientId}
            isConfirmed={confirmedClientIdList.includes(clientId)}
            isPresent={presence.get(clientId)}
            {...on}
          />
        ))}
      </tbody>
    </table>
  )
}

type StudentProps = Pick<ListProps, 'onPresent' | 'onRemove'> & {
  clientId: number
  isConfirmed: boolean
  /** Undefined: not recorded. */
  isPresent: boolean | undefined
}

function Student({ clientId, isConfirmed, isPresent, onPresent, onRemove }: StudentProps) {
  const { t } = useTranslation()
  const nameId = useId()
  return (
    <tr>
      <td id={nameId}>
        <ClientLink clientId={clientId} />
      </td>
      <td className="soft">{isConfirmed && t('words.yes')}</td>
      <td>
        <SegmentedControl
          size="xs"
          aria-labelledby={nameId}
          readOnly={!onPresent}
          value={isPresent === undefined ? '' : String(isPresent)}
          data={[
            { value: 'true', label: t('words.yes') },
            { value: 'false', label: t('words.no') },
          ]}
          onChange={(value) => onPresent?.(clientId, value === 'true')}
        />
      </td>
      <td style={{ textAlign: 'right' }}>
        {onRemove && (
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t('classes.remove')}
            aria-describedby={nameId}
            onClick={() => onRemove(clientId)}
          >
            <IconX size={15} aria-hidden />
          </ActionIcon>
        )}
      </td>
    </tr>
  )
}
