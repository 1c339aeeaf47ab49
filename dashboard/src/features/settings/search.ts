import { choiceParam, present, type RawSearch, textParam } from '../../lib/search-params.ts';

export const settingViews = ['all', 'changed', 'restart'] as const;
export type SettingView = (typeof settingViews)[number];

export interface SettingsSearch {
  q?: string;
  view?: SettingView;
}

export function settingsSearch(search: RawSearch): SettingsSearch {
  return present({ q: textParam(search, 'q'), view: choiceParam(search, 'view', settingViews) });
}
