import { Button, Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from '../texts/translate.ts'
import type { Leaving } from '../records/editor.ts'
import { leaveThen } from '../records/leave.ts'

type WindowProps = {
  isOpen: boolean
  title: string
  size?: string
  /**
   * What the window edits, if the page below it has unsaved changes of its own. Default: all.
   * `nothing`: closing it loses no change of a record.
   */
  leaving?: Leaving | 'nothing'
  onClose: () => void
  children: ReactNode
}

export function FormWindow({ isOpen, title, size = 'md', leaving, ...props }: WindowProps) {
  const { onClose, children } = props
  const { t } = useTranslation()
  return (
    <Modal
      opened={isOpen}
      onClose={() => (leaving === 'nothing' ? onClose() : leaveThen(onClose, leaving))}
      title={title}
      size={size}
      closeButtonProps={{ 'aria-label': t('words.close') }}
    >
      {children}
    </Modal>
  )
}

type ConfirmProps = Omit<WindowProps, 'children' | 'leaving'> & {
  hint: string
  button: string
  onConfirm: () => void
}

/** Asks for confirmation of an action that cannot be undone. */
export function ConfirmWindow({ hint, button, onConfirm, onClose, ...window }: ConfirmProps) {
  return (
    <FormWindow {...window} leaving="nothing" onClose={onClose}>
      <p style={{ marginTop: 0 }}>{hint}</p>
      <Button
        color="clay"
        onClick={() => {
          onClose()
          onConfirm()
        }}
      >
        {button}
      </Button>
    </FormWindow>
  )
}

type SubmitProps = {
  label: string
  form: { isBusy: boolean; message?: ReactNode }
  disabled?: boolean
  color?: string
}

/** The button of a form, and the message if it failed. */
export function SubmitRow({ label, form, disabled = false, color }: SubmitProps) {
  return (
    <div className="row" style={{ flexWrap: 'wrap' }}>
      <Button type="submit" loading={form.isBusy} disabled={disabled} {...(color && { color })}>
        {label}
      </Button>
      <span role="alert" className="small clay">
        {form.message}
      </span>
    </div>
  )
}
