import { Button, Modal } from '@mantine/core'
import { Link, Outlet } from '@tanstack/react-router'
import { Suspense, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.ts'
import { Loading } from '../components/states.tsx'
import classes from './settings.module.css'

const PAGES = [
  { name: 'business', path: '/settings/business', needs: 'VIEW_BUSINESS' },
  { name: 'locations', path: '/settings/locations', needs: 'EDIT_SETUP' },
  { name: 'staff', path: '/settings/staff', needs: 'EDIT_SETUP' },
  { name: 'services', path: '/settings/services', needs: 'EDIT_SETUP' },
  { name: 'people', path: '/settings/people', needs: 'MANAGE_USERS' },
  { name: 'keys', path: '/settings/keys', needs: 'MANAGE_KEYS' },
  { name: 'mail', path: '/settings/mail', needs: 'MANAGE_BUSINESS' },
  { name: 'suppressions', path: '/settings/suppressions', needs: 'VIEW_EMAILS' },
  { name: 'import', path: '/import', needs: 'EDIT_SCHEDULE' },
  { name: 'account', path: '/settings/account', needs: 'VIEW_BUSINESS' },
] as const

/** The frame of the settings; each page renders its own head and the list of settings. */
export function SettingsPage() {
  return (
    <Suspense fallback={<Loading />}>
      <Outlet />
    </Suspense>
  )
}

export function SettingsColumns({ children }: { children: ReactNode }) {
  const { t } = useTranslation()
  const { functions } = useSession()
  return (
    <div className={classes.columns}>
      <nav className={classes.list} aria-label={t('settings.label')}>
        {PAGES.filter(({ needs }) => functions.includes(needs)).map(({ name, path }) => (
          <Link key={name} to={path} className={classes.item}>
            {t(`settings.${name}.title`)}
          </Link>
        ))}
      </nav>
      <div className="column" style={{ gap: 20 }}>
        {children}
      </div>
    </div>
  )
}

/** A table whose last column holds the actions of each row. */
export function SettingsTable({ head, children }: { head: string[]; children: ReactNode }) {
  const { t } = useTranslation()
  return (
    <table className="table">
      <thead>
        <tr>
          {head.map((label) => (
            <th key={label}>{label}</th>
          ))}
          <th>
            <span className="visually-hidden">{t('form.actions')}</span>
          </th>
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}

type WindowProps = {
  isOpen: boolean
  title: string
  size?: string
  onClose: () => void
  children: ReactNode
}

export function SettingsWindow({ isOpen, title, size = 'md', onClose, children }: WindowProps) {
  const { t } = useTranslation()
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={title}
      size={size}
      closeButtonProps={{ 'aria-label': t('form.close') }}
    >
      {children}
    </Modal>
  )
}

type ConfirmProps = Omit<WindowProps, 'children'> & {
  hint: string
  button: string
  onConfirm: () => void
}

/** Asks for confirmation of an action that cannot be undone. */
export function ConfirmWindow({ hint, button, onConfirm, onClose, ...window }: ConfirmProps) {
  return (
    <SettingsWindow {...window} onClose={onClose}>
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
    </SettingsWindow>
  )
}

type SubmitProps = {
  label: string
  form: { isBusy: boolean; message?: ReactNode }
  disabled?: boolean
}

/** The button of a form, and the message if it failed. */
export function SubmitRow({ label, form, disabled = false }: SubmitProps) {
  return (
    <div className="row">
      <Button type="submit" loading={form.isBusy} disabled={disabled}>
        {label}
      </Button>
      <span role="alert" className="small clay">
        {form.message}
      </span>
    </div>
  )
}
