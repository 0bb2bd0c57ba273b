/** A business with a confirmation of every booking and a reminder that is due 1.5 s later. */
export async function openClinic(base: string, operatorKey: string) {
  const post = async (key: string, path: string, body: object) => {
    const answer = await fetch(new URL(path, base), {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as Record<string, never>
  }
  const { businessId } = await post(operatorKey, '/business', {
    name: 'Praxis',
    timeZone: 'Europe/Zurich',
  })
  const { key } = await post(operatorKey, `/business/${businessId}/apiKey`, { name: 'proof' })
  const save = (path: string, body: object) => post(key!, path, body)
  const { locationId } = await save('/location', { name: 'Altstadt' })
  const { professionalId } = await save('/professional', { firstName: 'Elena', lastName: 'García' })
  const { reasonId } = await save('/reason', { name: 'Consultation' })
  const { clientId } = await save('/client', {
    firstName: 'Anna',
    lastName: 'Müller',
    emailAddress: 'anna@example.org',
  })
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you',
    emailBody: '<p>%APPT_START_TIME%</p>',
  })
  const eventActions = [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }]
  const shared = {
    active: true,
    businessId,
    objectType: 'CALENDAR',
    triggerMinutes: 0,
    eventActions,
  }
  await save('/eventDefinition', { ...shared, triggerHours: 0, eventType: { eventTypeId: 1 } })
  await save('/eventDefinition', {
    ...shared,
    triggerHours: -24,
    latePolicy: 'SEND',
    eventType: { eventTypeId: 3 },
  })
  const ids = { locationId, professionalId, reasonId, clientId }
  const book = async (at: string, externalId: string) => {
    const startTime = Date.now() + 24 * 3_600_000 + 1_500
    const answer = await fetch(new URL('/calendar', at), {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...ids, externalId, startTime, endTime: startTime + 1_800_000 }),
      signal: AbortSignal.timeout(15_000),
    })
    await answer.arrayBuffer()
    return answer.status
  }
  return { book }
}
