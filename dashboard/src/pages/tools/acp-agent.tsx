import { getRouteApi } from '@tanstack/react-router';
import { AcpAgentDetail } from '../../features/acp-agents/agent-detail.tsx';

const route = getRouteApi('/acp-agents/$agentId');

export function AcpAgentPage() {
  const { agentId } = route.useParams();
  return <AcpAgentDetail id={agentId} />;
}
