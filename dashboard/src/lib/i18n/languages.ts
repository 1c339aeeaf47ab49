/** A language of the pages. Those that are not complete show English where a namespace is missing. */
export interface Language {
  /** BCP 47. */
  code: string;
  /** What it calls itself. */
  name: string;
}

/** The complete ones are `completeLanguages`; the others have what `locales/CODE/` holds. */
export const languages: readonly Language[] = [
  { code: 'en', name: 'English' },
  { code: 'pt-BR', name: 'Português (Brasil)' },
  { code: 'ar', name: 'العربية' },
  { code: 'bg', name: 'Български' },
  { code: 'bn', name: 'বাংলা' },
  { code: 'cs', name: 'Čeština' },
  { code: 'da', name: 'Dansk' },
  { code: 'de', name: 'Deutsch' },
  { code: 'es', name: 'Español' },
  { code: 'fa', name: 'فارسی' },
  { code: 'fi', name: 'Suomi' },
  { code: 'fil', name: 'Filipino' },
  { code: 'fr', name: 'Français' },
  { code: 'gu', name: 'ગુજરાતી' },
  { code: 'he', name: 'עברית' },
  { code: 'hi', name: 'हिन्दी' },
  { code: 'hu', name: 'Magyar' },
  { code: 'id', name: 'Bahasa Indonesia' },
  { code: 'it', name: 'Italiano' },
  { code: 'ja', name: '日本語' },
  { code: 'ko', name: '한국어' },
  { code: 'mr', name: 'मराठी' },
  { code: 'ms', name: 'Bahasa Melayu' },
  { code: 'nl', name: 'Nederlands' },
  { code: 'no', name: 'Norsk' },
  { code: 'pl', name: 'Polski' },
  { code: 'pt', name: 'Português' },
  { code: 'ro', name: 'Română' },
  { code: 'ru', name: 'Русский' },
  { code: 'sk', name: 'Slovenčina' },
  { code: 'sv', name: 'Svenska' },
  { code: 'sw', name: 'Kiswahili' },
  { code: 'ta', name: 'தமிழ்' },
  { code: 'te', name: 'తెలుగు' },
  { code: 'th', name: 'ไทย' },
  { code: 'tr', name: 'Türkçe' },
  { code: 'uk', name: 'Українська' },
  { code: 'ur', name: 'اردو' },
  { code: 'vi', name: 'Tiếng Việt' },
  { code: 'zh-CN', name: '简体中文' },
  { code: 'zh-TW', name: '繁體中文' },
];

/** Languages that have every text: English need not be loaded beside them. */
export const completeLanguages: ReadonlySet<string> = new Set(['en', 'pt-BR']);

const rightToLeft: ReadonlySet<string> = new Set(['ar', 'fa', 'he', 'ur']);

export function directionOf(code: string): 'ltr' | 'rtl' {
  return rightToLeft.has(code) ? 'rtl' : 'ltr';
}

/** Names of before BCP 47, which browsers and the former product send. */
const formerNames: Readonly<Record<string, string>> = {
  in: 'id',
  iw: 'he',
  nb: 'no',
  nn: 'no',
  phi: 'fil',
  tl: 'fil',
  'zh-hans': 'zh-CN',
  'zh-sg': 'zh-CN',
  'zh-hant': 'zh-TW',
  'zh-hk': 'zh-TW',
  zh: 'zh-CN',
};

/** The language of the pages that fits a list of wishes best; English when none does. */
export function bestLanguage(wishes: readonly string[]): string {
  for (const wish of wishes) {
    const lower = wish.toLowerCase();
    const [base = ''] = lower.split('-');
    for (const candidate of [lower, formerNames[lower], base, formerNames[base]]) {
      const found = languages.find(({ code }) => code.toLowerCase() === candidate?.toLowerCase());
      if (found !== undefined) return found.code;
    }
  }
  return 'en';
}
