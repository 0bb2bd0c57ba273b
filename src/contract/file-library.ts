import { Type, type Static } from 'typebox'
import { bodyProperties, boolean, fileUUId, name, optional, required } from './fields.ts'
import { alsoWithRule } from './rules.ts'
import { FILE_EXTENSIONS, fileTypeOf } from './file-types.ts'
import { PageQuery } from './page.ts'
import {
  about,
  Id,
  Maybe,
  Named,
  serverOwned,
  ServerOwned,
  stamps,
  stampsExample,
} from './schema.ts'

export const MAX_FILE_BYTES = 5 * 1_048_576
/** All attachments of one mail, before base64, which adds a third. */
export const MAX_ATTACHED_BYTES = 10 * 1_048_576
/** All files of a business. */
export const MAX_LIBRARY_BYTES = 500 * 1_048_576
export const MAX_LOGO_BYTES = 200 * 1_024

const FileUUId = Type.String({ pattern: '^[a-z0-9]{32}$' })

export const ByFile = Type.Object({ fileUUId: FileUUId })

export const FilesQuery = Type.Object(PageQuery)

/** A file without its content. */
export const LibraryFile = Named(
  'LibraryFile',
  {
    fileUUId: FileUUId,
    businessId: Type.Integer(),
    name: about(Type.String(), 'The name of the file.'),
    type: about(Type.String(), 'The media type.'),
    size: Type.Integer(),
    active: Type.Boolean(),
    ...stamps,
  },
  {
    fileUUId: '7d1f0c9a1be2d34c5f8a6b7c8d9e0f1a',
    businessId: 1,
    name: 'How to find us.pdf',
    type: 'application/pdf',
    size: 48_213,
    active: true,
    ...stampsExample,
  },
)
export type LibraryFile = Static<typeof LibraryFile>

/** An attachment of a mail. */
export const Attachment = Named('Attachment', {
  fileUUId: FileUUId,
  name: about(Type.String(), 'The name of the file.', 'How to find us.pdf'),
  type: about(Type.String(), 'The media type.', 'application/pdf'),
  size: Type.Integer(),
})
export type Attachment = Static<typeof Attachment>

const fileName = () => {
  const { schema, ...shape } = name(100)
  return { ...shape, schema: alsoWithRule(schema, fileNameFaults) }
}

function fileNameFaults(value: unknown) {
  const text = String(value)
  if (/[/\\:*?"<>|]/.test(text)) return [{ detail: 'must not hold / \\ : * ? " < > |' }]
  if (fileTypeOf(text)) return []
  return [{ detail: `must end with one of .${FILE_EXTENSIONS.join(', .')}` }]
}

const FILE_FIELDS = {
  name: required(
    fileName(),
    `With an extension that fits the content: ${FILE_EXTENSIONS.join(', ')}.`,
  ),
  active: optional(boolean(true)),
}

/** The body of a POST. With `fileUUId` it is an update. */
export const FileWrite = Named(
  'LibraryFileBody',
  {
    fileUUId: Maybe(fileUUId().schema),
    businessId: Maybe(Id),
    ...bodyProperties(FILE_FIELDS),
    type: Maybe(
      Type.String({
        examples: ['application/pdf'],
        description: 'Must be the media type of the content if it is given.',
      }),
    ),
    content: Maybe(
      Type.String({
        description: 'The bytes in base64. Required to create one; it cannot be changed.',
        examples: ['JVBERi0xLjcKJcKlwrHDqwo='],
      }),
    ),
    size: ServerOwned,
    ...serverOwned,
  },
  { name: 'How to find us.pdf', content: 'JVBERi0xLjcKJcKlwrHDqwo=' },
)

export const FILE_BODY = { schema: FileWrite, fields: FILE_FIELDS }
