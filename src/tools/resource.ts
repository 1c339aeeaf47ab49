import type { Resource } from '../http/resource.ts';
import { toolRow } from './schema.ts';
import type { ToolService } from './service.ts';

/** The catalogue of coding tools and agents, with where each points on the machine of the gateway. */
export function toolsResource({ row, rows }: Pick<ToolService, 'row' | 'rows'>): Resource {
  return {
    name: 'tools',
    title: 'Coding tools',
    summary: 'Coding tools and agents, and where they point on the machine of the gateway.',
    record: toolRow,
    read: 'tools:read',
    list: rows,
    find: row,
  };
}
