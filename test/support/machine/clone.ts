import { existsSync } from 'node:fs';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';

const project = resolve(import.meta.dirname, '../../..');
const left = ['.git', 'node_modules', 'dist', 'tools/openapi/node_modules', 'tools/openapi/.scratch'];

/** Copies this project as a clone has it after `npm install`: its packages are linked, and its built pages copied where there are any. */
export async function copyProject(target: string): Promise<void> {
  await cp(project, target, {
    recursive: true,
    filter: (source) => !left.includes(relative(project, source)),
  });
  await symlink(join(project, 'node_modules'), join(target, 'node_modules'));
  const pages = join('dist', 'dashboard', 'app');
  await mkdir(join(target, 'dist'));
  if (existsSync(join(project, pages)))
    await cp(join(project, pages), join(target, pages), { recursive: true });
}
