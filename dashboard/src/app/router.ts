import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router';
import { agentsSearch } from '../features/acp-agents/search.ts';
import { auditSearch } from '../features/audit/search.ts';
import { connectionsSearch } from '../features/connections/search.ts';
import { costsSearch } from '../features/costs/search.ts';
import { eventsSearch } from '../features/events/search.ts';
import { modelsSearch } from '../features/models/search.ts';
import { playgroundSearch } from '../features/playground/search.ts';
import { requestsSearch } from '../features/requests/search.ts';
import { servicesSearch } from '../features/services/search.ts';
import { settingsSearch } from '../features/settings/search.ts';
import { toolsSearch } from '../features/tools/search.ts';
import { dashboardPath } from '../lib/base-path.ts';
import { sortSearch } from '../lib/sort-search.ts';
import { ErrorPage } from './error-page.tsx';
import { NotFoundPage } from './not-found-page.tsx';
import { Shell } from './shell.tsx';

/**
 * Every page: its path, what its address may carry, and the file that is loaded when it is opened. A new page is one
 * route here, one row in `navigation.ts`, and a file in `pages/`.
 */
const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Shell,
  notFoundComponent: NotFoundPage,
});

const overview = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('../pages/use/overview.tsx'), 'OverviewPage'),
});

const requests = createRoute({
  getParentRoute: () => root,
  path: '/requests',
  validateSearch: requestsSearch,
  component: lazyRouteComponent(() => import('../pages/use/requests.tsx'), 'RequestsPage'),
});

const request = createRoute({
  getParentRoute: () => requests,
  path: '$requestId',
  component: lazyRouteComponent(() => import('../pages/use/request.tsx'), 'RequestPage'),
});

const costs = createRoute({
  getParentRoute: () => root,
  path: '/costs',
  validateSearch: costsSearch,
  component: lazyRouteComponent(() => import('../pages/use/costs.tsx'), 'CostsPage'),
});

const playground = createRoute({
  getParentRoute: () => root,
  path: '/playground',
  validateSearch: playgroundSearch,
  component: lazyRouteComponent(() => import('../pages/use/playground.tsx'), 'PlaygroundPage'),
});

const models = createRoute({
  getParentRoute: () => root,
  path: '/models',
  validateSearch: modelsSearch,
  component: lazyRouteComponent(() => import('../pages/route/models.tsx'), 'ModelsPage'),
});

const budgets = createRoute({
  getParentRoute: () => root,
  path: '/budgets',
  validateSearch: sortSearch,
  component: lazyRouteComponent(() => import('../pages/route/budgets.tsx'), 'BudgetsPage'),
});

const codingTools = createRoute({
  getParentRoute: () => root,
  path: '/cli-code',
  validateSearch: toolsSearch,
  component: lazyRouteComponent(() => import('../pages/tools/coding-tools.tsx'), 'CodingToolsPage'),
});

const codingTool = createRoute({
  getParentRoute: () => root,
  path: '/cli-code/$toolId',
  component: lazyRouteComponent(() => import('../pages/tools/coding-tool.tsx'), 'CodingToolPage'),
});

const agents = createRoute({
  getParentRoute: () => root,
  path: '/cli-agents',
  validateSearch: toolsSearch,
  component: lazyRouteComponent(() => import('../pages/tools/agents.tsx'), 'AgentsPage'),
});

const agent = createRoute({
  getParentRoute: () => root,
  path: '/cli-agents/$toolId',
  component: lazyRouteComponent(() => import('../pages/tools/agent.tsx'), 'AgentPage'),
});

const acpAgents = createRoute({
  getParentRoute: () => root,
  path: '/acp-agents',
  validateSearch: agentsSearch,
  component: lazyRouteComponent(() => import('../pages/tools/acp-agents.tsx'), 'AcpAgentsPage'),
});

const acpAgent = createRoute({
  getParentRoute: () => root,
  path: '/acp-agents/$agentId',
  component: lazyRouteComponent(() => import('../pages/tools/acp-agent.tsx'), 'AcpAgentPage'),
});

const connections = createRoute({
  getParentRoute: () => root,
  path: '/connections',
  validateSearch: connectionsSearch,
  component: lazyRouteComponent(() => import('../pages/route/connections.tsx'), 'ConnectionsPage'),
});

const combos = createRoute({
  getParentRoute: () => root,
  path: '/combos',
  validateSearch: sortSearch,
  component: lazyRouteComponent(() => import('../pages/route/combos.tsx'), 'CombosPage'),
});

const keys = createRoute({
  getParentRoute: () => root,
  path: '/api-manager',
  validateSearch: sortSearch,
  component: lazyRouteComponent(() => import('../pages/route/keys.tsx'), 'KeysPage'),
});

const events = createRoute({
  getParentRoute: () => root,
  path: '/events',
  validateSearch: eventsSearch,
  component: lazyRouteComponent(() => import('../pages/operate/events.tsx'), 'EventsPage'),
});

const deadLetter = createRoute({
  getParentRoute: () => events,
  path: '$letterId',
  component: lazyRouteComponent(() => import('../pages/operate/dead-letter.tsx'), 'DeadLetterPage'),
});

const setup = createRoute({
  getParentRoute: () => root,
  path: '/setup',
  component: lazyRouteComponent(() => import('../pages/use/setup.tsx'), 'SetupPage'),
});

const services = createRoute({
  getParentRoute: () => root,
  path: '/services',
  validateSearch: servicesSearch,
  component: lazyRouteComponent(() => import('../pages/operate/services.tsx'), 'ServicesPage'),
});

const service = createRoute({
  getParentRoute: () => services,
  path: '$serviceId',
  component: lazyRouteComponent(() => import('../pages/operate/service.tsx'), 'ServicePage'),
});

const users = createRoute({
  getParentRoute: () => root,
  path: '/users',
  validateSearch: sortSearch,
  component: lazyRouteComponent(() => import('../pages/operate/users.tsx'), 'UsersPage'),
});

const audit = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import('../pages/operate/audit.tsx'), 'AuditPage'),
});

const auditRecord = createRoute({
  getParentRoute: () => audit,
  path: '$auditId',
  component: lazyRouteComponent(() => import('../pages/operate/audit-record.tsx'), 'AuditRecordPage'),
});

const backups = createRoute({
  getParentRoute: () => root,
  path: '/backups',
  validateSearch: sortSearch,
  component: lazyRouteComponent(() => import('../pages/operate/backups.tsx'), 'BackupsPage'),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  validateSearch: settingsSearch,
  component: lazyRouteComponent(() => import('../pages/operate/settings.tsx'), 'SettingsPage'),
});

const routeTree = root.addChildren([
  overview,
  requests.addChildren([request]),
  costs,
  playground,
  codingTools,
  codingTool,
  agents,
  agent,
  acpAgents,
  acpAgent,
  connections,
  models,
  combos,
  keys,
  setup,
  events.addChildren([deadLetter]),
  services.addChildren([service]),
  users,
  audit.addChildren([auditRecord]),
  backups,
  settings,
  budgets,
]);

export function createDashboardRouter(queries: QueryClient) {
  return createRouter({
    routeTree,
    basepath: dashboardPath(),
    context: { queries },
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    defaultErrorComponent: ErrorPage,
    scrollRestoration: false,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createDashboardRouter>;
  }
}
