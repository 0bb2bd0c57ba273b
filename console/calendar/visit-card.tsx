import { Group, Popover, Text } from '@mantine/core'
import { useEffect, useRef, useState, type PointerEvent, type RefObject } from 'react'
import type { Appointment } from '../api/calendar.ts'
import type { Setup } from '../api/setup.ts'
import { useTimeFormat } from '../components/time.ts'
import { DeskButtons, type Desk } from './desk.tsx'
import { statusLabel, useVisitDetails } from './visit.tsx'

/** How long the pointer rests on an appointment before its card opens, and stays open after it. */
const OPEN_MS = 250
const CLOSE_MS = 200

type Box = { top: number; left: number; width: number; height: number }

/** The appointment under the pointer, and its place in the grid. */
export function useVisitCard(body: RefObject<HTMLElement | null>, visits: Appointment[]) {
  const [at, setAt] = useState<{ id: number; box: Box }>()
  const timer = useRef(0)
  useEffect(() => () => window.clearTimeout(timer.current), [])
  const later = (next: typeof at, ms: number) => {
    window.clearTimeout(timer.current)
    timer.current = window.setTimeout(() => setAt(next), ms)
  }
  const visit = visits.find(({ calendarId }) => calendarId === at?.id)
  return {
    shown: at && visit && { visit, box: at.box },
    /** For the grid: touch opens the panel instead. */
    follow: {
      onPointerOver: ({ target, pointerType, buttons }: PointerEvent) => {
        if (!(target instanceof Element) || pointerType !== 'mouse' || buttons !== 0) return
        const element = target.closest<HTMLElement>('[data-visit]')
        if (!element || !body.current?.contains(element)) return later(undefined, CLOSE_MS)
        const id = Number(element.dataset.visit)
        later({ id, box: boxIn(body.current, element) }, at?.id === id ? 0 : OPEN_MS)
      },
      onPointerLeave: () => later(undefined, CLOSE_MS),
    },
    /** For the card: it stays open while the pointer is on it. */
    hold: {
      onPointerEnter: () => window.clearTimeout(timer.current),
      onPointerLeave: () => later(undefined, CLOSE_MS),
    },
  }
}

function boxIn(body: HTMLElement, element: HTMLElement): Box {
  const outer = body.getBoundingClientRect()
  const { top, left, width, height } = element.getBoundingClientRect()
  return { top: top - outer.top, left: left - outer.left, width, height }
}

type Props = {
  visit: Appointment
  box: Box
  setup: Setup
  desk: Desk
  hold: ReturnType<typeof useVisitCard>['hold']
}

/** Everything about an appointment that its small box has no room for, and the steps of the desk. */
export function VisitCard({ visit, box, setup, desk, hold }: Props) {
  const format = useTimeFormat()
  const detailsOf = useVisitDetails()
  return (
    <Popover opened position="right-start" offset={2} shadow="md" withRoles={false}>
      <Popover.Target>
        <span style={{ position: 'absolute', pointerEvents: 'none', ...box }} aria-hidden />
      </Popover.Target>
      <Popover.Dropdown p="xs" maw={300} {...hold}>
        <Text size="sm" fw={600} dir="auto">
          {visit.clientName}
        </Text>
        <Text size="xs" c="var(--soft)">
          {format.time(visit.startTime)}–{format.time(visit.endTime)} · {detailsOf(visit)} ·{' '}
          {statusLabel(setup, visit.status)}
        </Text>
        <Group gap={6} mt={6}>
          <DeskButtons desk={desk} visit={visit} hasKeys />
        </Group>
      </Popover.Dropdown>
    </Popover>
  )
}
