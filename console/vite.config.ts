import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** The parts that nearly all pages have. */
const PARTS_OF_EVERY_PAGE =
  /console\/(api|components\/(filled|mark|states)|messages\/(actions|meaning)|shell\/page-head)|@mantine\/(hooks|core\/esm\/core)|\/(Button|Loader|Transition)\/|useMutation|console\/texts\/trans/

/** Writes a compressed copy next to each file of text; the service sends it to browsers that accept it. */
const compressFiles: Plugin = {
  name: 'compress-files',
  writeBundle({ dir }, bundle) {
    for (const name of Object.keys(bundle).filter((name) => /\.(js|css|html)$/.test(name))) {
      const file = join(dir!, name)
      writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }))
    }
  },
}

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react(), compressFiles],
  resolve: {
    alias: { linkifyjs: join(import.meta.dirname, 'templates/links-in-text.ts') },
  },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    rolldownOptions: {
      output: {
        // The first load lists all files, so their names are short.
        chunkFileNames: 'assets/[hash:7].js',
        assetFileNames: 'assets/[hash:7][extname]',
        codeSplitting: {
          // Few requests: the first load is one file, and pages share a few larger files.
          groups: [
            { name: 'shell', tags: ['$initial'], priority: 1 },
            { name: 'icons', test: /components\/icons/, priority: 1 },
            { name: 'page', test: PARTS_OF_EVERY_PAGE },
          ],
        },
      },
    },
  },
  server: { proxy: { '^/(?!console/)': 'http://127.0.0.1:8080' } },
})
