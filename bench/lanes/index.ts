import type { Lane } from '../lane.ts';
import { processLanes } from './processes.ts';
import { requestLanes } from './requests.ts';
import { streamLanes } from './streams.ts';
import { translatedLanes } from './translated.ts';

export const lanes: readonly Lane[] = [...processLanes, ...requestLanes, ...streamLanes, ...translatedLanes];
