import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The parts that nearly all pages have. */
const PARTS_OF_EVERY_PAGE =
  /console\/(api|components\/(filled|mark|states)|messages\/(actions|meaning)|shell\/page-head)|@mantine\/(hooks|core\/esm\/core)|\/(Button|Loader|Transition)\/|useMutation|i18next/

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    rolldownOptions: {
      output: {
        // The first load lists all files: their names are as short as possible.
        chunkFileNames: 'assets/[hash:7].js',
        assetFileNames: 'assets/[hash:7][extname]',
        codeSplitting: {
          // Few requests: the first load is one file, and pages share files of some size.
          groups: [
            { name: 'shell', tags: ['$initial'], priority: 1 },
            { name: 'icons', test: /tabler/, priority: 1 },
            { name: 'page', test: PARTS_OF_EVERY_PAGE },
          ],
        },
      },
    },
  },
  server: { proxy: { '^/(?!console/)': 'http://127.0.0.1:8080' } },
})
