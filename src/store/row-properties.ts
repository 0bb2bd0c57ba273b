/** Converts a row of a table to the property names and formats of the API. */
export function propertiesOf(row: Record<string, unknown>) {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [propertyOf(column), valueOf(column, value)]),
  )
}

const IRREGULAR_NAMES: Record<string, string> = {
  object_uuid: 'objectUUId',
  invitation_uuid: 'invitationUUID',
  attach_file_library_uuids: 'attachFileLibraryUUids',
}

const propertyOf = (column: string) =>
  IRREGULAR_NAMES[column] ??
  column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

const valueOf = (column: string, value: unknown) =>
  /(^|_)(date|time)$/.test(column) && typeof value === 'string'
    ? Temporal.Instant.from(value).epochMilliseconds
    : value
