import { getRouteApi } from '@tanstack/react-router';
import { ToolDetail } from '../../features/tools/tool-detail.tsx';

const route = getRouteApi('/cli-agents/$toolId');

export function AgentPage() {
  const { toolId } = route.useParams();
  return <ToolDetail category="agent" id={toolId} />;
}
