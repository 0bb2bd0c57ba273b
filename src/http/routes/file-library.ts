import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import {
  ByFile,
  FilesQuery,
  FileWrite,
  LibraryFile,
  MAX_FILE_BYTES,
} from '../../contract/file-library.ts'
import { FILE_MEDIA_TYPES } from '../../contract/file-types.ts'
import { PageOf } from '../../contract/page.ts'
import { fileNameParameters } from '../../email/headers.ts'
import { notFound } from '../../errors.ts'
import { removeFile, saveFile } from '../../scheduling/files.ts'
import { findFile, listFiles, readContent } from '../../store/files.ts'
import { abortOnDisconnect } from '../server/connections.ts'
import { pageOf, readPage } from '../server/cursor.ts'
import { requireMatch } from '../server/etag.ts'
import { answerOnce, created, ok } from '../server/idempotency.ts'
import { toWire } from '../server/serialize.ts'
import { inOrder, operation, type Routes } from '../server/services.ts'

const tags = ['file library']
const reading = { scope: 'mail:read' } as const
const writing = { scope: 'mail:write', function: 'EDIT_TEMPLATES' } as const

/** A file in base64 with its name. The margin is for errors that say by how much a file is too large. */
const MAX_UPLOAD_BYTES = Math.ceil((MAX_FILE_BYTES * 4) / 3) + 262_144
/** For a slow connection. */
const UPLOAD_SECONDS = 120

const LIST = 'fileLibrary'
const Bytes = Type.Unsafe<Buffer>(Type.String({ format: 'binary' }))

/** Files that templates attach to mails, and the logo of the business. */
export const fileLibrary: Routes = async (app, services) => {
  await inOrder(() => [getFiles, getFile, getContent, deleteFile])(app, services)
  // Only uploads may have any content type.
  await app.register(postFile, services)
}

const getFiles: Routes = async (app) => {
  app.get(
    '/fileLibrary',
    operation('listFiles', 'List the files of the library, oldest first', {
      config: reading,
      tags,
      querystring: FilesQuery,
      response: { 200: PageOf(LibraryFile, 'LibraryFilePage') },
    }),
    async ({ caller, query }) => {
      const { limit, after } = readPage(query, LIST, ['moment', 'text'])
      const files = await listFiles(caller.db, caller.businessId, { after, limit: limit + 1 })
      return toWire(pageOf(files, limit, LIST, (file) => [String(file.createdDate), file.fileUUId]))
    },
  )
}

const getFile: Routes = async (app) => {
  app.get(
    '/fileLibrary/:fileUUId',
    operation('getFile', 'Read about a file', {
      config: { ...reading, etag: true },
      tags,
      description: 'Also answers a deleted one, with `active: false`.',
      params: ByFile,
      response: { 200: LibraryFile },
    }),
    async ({ caller, params: { fileUUId } }) => {
      const file = await findFile(caller.db, caller.businessId, fileUUId)
      if (!file) throw notFound('file', fileUUId)
      return toWire(file)
    },
  )
}

const getContent: Routes = async (app) => {
  app.get(
    '/fileLibrary/:fileUUId/content',
    operation('getFileContent', 'Download a file', {
      config: reading,
      tags,
      params: ByFile,
      response: {
        200: {
          description: 'The bytes of the file, with its media type.',
          content: Object.fromEntries(FILE_MEDIA_TYPES.map((type) => [type, { schema: Bytes }])),
        },
      },
    }),
    async ({ caller: { db, businessId }, params: { fileUUId } }, reply) => {
      const file = await findFile(db, businessId, fileUUId)
      const bytes = file && (await readContent(db, businessId, fileUUId))
      if (!bytes) throw notFound('file', fileUUId)
      return reply
        .header('content-security-policy', "sandbox; default-src 'none'")
        .header('content-disposition', `attachment; ${fileNameParameters('filename', file.name)}`)
        .type(file.type)
        .send(bytes)
    },
  )
}

const postFile: Routes = async (app, { clock, queues }) => {
  // A raw file: its name is in the query, its bytes become the `content` of a JSON body.
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer) => {
      const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
      const { name } = request.query as { name?: string }
      const isUnknown = type === undefined || UNKNOWN_TYPES.includes(type)
      return { name, content: bytes.toString('base64'), ...(isUnknown ? {} : { type }) }
    },
  )

  app.post(
    '/fileLibrary',
    {
      ...operation('uploadFile', 'Upload, rename or restore a file', {
        config: {
          ...writing,
          etag: true,
          idempotent: true,
          bodySeconds: UPLOAD_SECONDS,
          readsBody: true,
        },
        tags,
        description:
          'Send JSON with the content in base64, or the bytes themselves with their Content-Type and ' +
          '`?name=`. A file has up to 5 MB. With `fileUUId`, `name` and `active` can be changed.',
        querystring: Type.Object({
          name: Type.Optional(
            Type.String({ description: 'The name of a file that is not sent as JSON.' }),
          ),
        }),
        body: FileWrite,
        response: { 200: LibraryFile, 201: LibraryFile },
      }),
      bodyLimit: MAX_UPLOAD_BYTES,
      // Large bodies: a few at a time are read into memory.
      onRequest: async ({ caller: { businessId } }, reply) => {
        const slot = queues.uploads.reserve({ businessId, signal: abortOnDisconnect(reply) })
        reply.raw.once('close', () => slot.release())
        await slot.granted
      },
    },
    async (request, reply) => {
      const { caller, body } = request
      const { businessId, user } = caller
      const now = clock.now()
      return answerOnce(caller.db, request, reply, now, async (tx) => {
        const author = { businessId, user, now }
        const { file, isNew } = await saveFile(tx, body, author, (current) =>
          requireMatch(request, current),
        )
        return isNew ? created(file, `/fileLibrary/${file.fileUUId}`) : ok(file)
      })
    },
  )
}

const UNKNOWN_TYPES = ['', 'application/octet-stream', 'application/x-www-form-urlencoded']

const deleteFile: Routes = async (app, { clock }) => {
  app.delete(
    '/fileLibrary/:fileUUId',
    operation('deleteFile', 'Delete a file', {
      config: { ...writing, etag: true },
      tags,
      description:
        'Sets `active` to false. The answer is 409 while an active template attaches it, or while it ' +
        'is the logo. A POST with `active: true` restores it.',
      params: ByFile,
      response: { 200: LibraryFile },
    }),
    async (request) => {
      const { businessId, user, db } = request.caller
      const { fileUUId } = request.params
      const author = { businessId, user, now: clock.now() }
      const deleted = await db.transaction((tx) =>
        removeFile(tx, fileUUId, author, (current) => requireMatch(request, current)),
      )
      return toWire(deleted)
    },
  )
}
