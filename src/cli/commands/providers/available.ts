import { authRow } from '../../../catalog/providers-resource.ts';
import { parametersOf } from '../../../connections/base-url.ts';
import { allProviders } from '../../../providers/index.ts';
import { isBuiltIn, type Provider } from '../../../providers/provider.ts';
import type { Command } from '../../command.ts';
import { needsKey } from '../../setup/provider-choice.ts';
import { usageError } from '../../terminal/failure.ts';
import type { Io } from '../../terminal/io.ts';

const categories = ['api-key', 'oauth', 'free', 'local', 'cloud', 'generic', 'demo', 'agent'];

export const providersAvailableCommand: Command = {
  arguments: [],
  flags: [
    { name: 'search', value: 'TEXT', summary: 'only those whose id, name or category contains the text' },
    {
      name: 'category',
      value: 'NAME',
      summary:
        'only this category: api-key, oauth (people can log in), free (something costs nothing), local, cloud, generic, demo',
    },
  ],
  needs: 'nothing',
  examples: [
    { command: 'gateway providers available --search open', does: 'find one' },
    { command: 'gateway providers available --category local --json', does: 'servers on this machine' },
  ],
  run: async (options, { io }) => {
    const category = options
      .text('category')
      ?.toLowerCase()
      .replace(/^apikey$/, 'api-key');
    if (category !== undefined && !categories.includes(category))
      throw usageError(`There is no category "${category}": choose ${categories.join(', ')}`);
    const search = options.text('search')?.toLowerCase() ?? '';
    const matching = allProviders().filter(
      (provider) => inCategory(provider, category) && matches(provider, search),
    );
    const document = { count: matching.length, categories, providers: matching.map(providerDocument) };
    io.result(document, () => (matching.length === 0 ? 'No provider matches.' : providerTable(matching, io)));
    return 0;
  },
};

function inCategory(provider: Provider, category: string | undefined): boolean {
  if (category === undefined) return true;
  if (category === 'oauth') return provider.login !== undefined;
  if (category === 'free') return provider.unpriced === 'free' || provider.freeTier !== undefined;
  return provider.category === category;
}

function matches({ id, name, category }: Provider, search: string): boolean {
  return [id, name, category].some((text) => text.toLowerCase().includes(search));
}

function providerDocument(provider: Provider) {
  return {
    id: provider.id,
    name: provider.name,
    category: provider.category,
    dialects: Object.keys(provider.formats),
    base_url: isBuiltIn(provider) ? null : provider.baseUrl,
    needs_base_url: provider.baseUrl === null,
    base_url_of: provider.baseUrlOf ?? null,
    base_url_parameters: parametersOf(provider),
    needs_key: needsKey(provider),
    key_variables: provider.keyVariables,
    local_port: provider.localPort ?? null,
    auth: authRow(provider.auth),
    free: provider.unpriced === 'free',
    free_tier: provider.freeTier ?? null,
    suggested_model: provider.suggestedModel,
    website: provider.website,
    documentation: provider.documentation,
  };
}

function providerTable(providers: readonly Provider[], io: Io): string {
  return io.table<Provider>(
    [
      { title: 'ID', cell: (provider) => provider.id },
      { title: 'NAME', cell: (provider) => provider.name },
      { title: 'CATEGORY', optional: true, cell: (provider) => provider.category },
      {
        title: 'KEY',
        cell: (provider) => (needsKey(provider) ? (keyVariable(provider) ?? 'yes') : 'none needed'),
      },
      { title: 'FORMATS', optional: true, cell: (provider) => Object.keys(provider.formats).join(', ') },
    ],
    providers,
  );
}

/** The variable that holds the key; the directory names others beside it for some providers. */
function keyVariable({ keyVariables }: Provider): string | undefined {
  return keyVariables.find((name) => !name.endsWith('_NAME'));
}
