import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { en } from './en.ts'

/** Every text of the console has a key in `en.ts`; a language is one more file of the same shape. */
export function startTexts() {
  void i18next.use(initReactI18next).init({
    lng: 'en',
    fallbackLng: 'en',
    defaultNS: 'console',
    resources: { en: { console: en } },
    interpolation: { escapeValue: false }, // React escapes
    initAsync: false,
  })
}
