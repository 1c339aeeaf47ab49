import { createInstance, type i18n } from 'i18next';
import ICU from 'i18next-icu';
import { initReactI18next } from 'react-i18next';
import common from '../../locales/en/common.json';
import { bestLanguage, completeLanguages, directionOf, languages } from './languages.ts';

type Translations = Record<string, unknown>;

/** `locales/LANGUAGE/NAMESPACE.json`, each loaded when a page first needs it. */
const files = import.meta.glob<{ default: Translations }>([
  '../../locales/*/*.json',
  '!../../locales/en/common.json',
]);

const KEY = 'modelgate.language';

/** Starts translating: the language that was chosen here, else the browser's. A namespace that a language lacks is English. */
export async function startTranslation(
  storage: Storage,
  wishes: readonly string[],
  root: HTMLElement,
): Promise<i18n> {
  const instance = createInstance();
  instance.on('languageChanged', (language) => {
    root.lang = language;
    root.dir = directionOf(language);
  });
  await instance
    .use(ICU)
    .use({
      type: 'backend' as const,
      init: () => {},
      read: (language: string, namespace: string) => read(language, namespace),
    })
    .use(initReactI18next)
    .init({
      lng: bestLanguage([storage.getItem(KEY) ?? '', ...wishes]),
      fallbackLng: (language: string) => (completeLanguages.has(language) ? [] : ['en']),
      load: 'currentOnly',
      supportedLngs: languages.map(({ code }) => code),
      ns: ['common'],
      defaultNS: 'common',
      resources: { en: { common } },
      partialBundledLanguages: true,
      interpolation: { escapeValue: false },
      returnNull: false,
      react: { useSuspense: true },
    });
  return instance;
}

async function read(language: string, namespace: string): Promise<Translations> {
  const load = files[`../../locales/${language}/${namespace}.json`];
  return load === undefined ? {} : (await load()).default;
}

/** Changes the language, which this browser remembers. */
export async function chooseLanguage(instance: i18n, language: string, storage: Storage): Promise<void> {
  storage.setItem(KEY, language);
  await instance.changeLanguage(language);
}
