import { choiceParam, present, type RawSearch, textParam } from '../../lib/search-params.ts';
import { type SortSearch, sortSearch } from '../../lib/sort-search.ts';

export const abilities = ['tools', 'reasoning', 'images', 'structured'] as const;

export type Ability = (typeof abilities)[number];

export interface ModelsSearch extends SortSearch {
  kind?: 'model' | 'combo' | 'alias';
  able?: Ability;
  /** Id of the model whose detail is open. */
  model?: string;
}

export function modelsSearch(search: RawSearch): ModelsSearch {
  return present({
    ...sortSearch(search),
    kind: choiceParam(search, 'kind', ['model', 'combo', 'alias']),
    able: choiceParam(search, 'able', abilities),
    model: textParam(search, 'model'),
  });
}
