"""Deep Q-learning with a replay memory; the environment has gymnasium's interface."""

import math
import random
from argparse import ArgumentParser
from collections import deque, namedtuple
from itertools import count

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))


class Discrete:
    def __init__(self, n):
        self.n = n

    def sample(self):
        return random.randrange(self.n)


class PoleEnv:
    """A pole to be balanced on a cart, by pushes from the left or from the right."""

    def __init__(self, max_steps=60):
        self.action_space = Discrete(2)
        self.max_steps = max_steps
        self.np_random = np.random.default_rng()

    def reset(self, seed=None, options=None):
        if seed is not None:
            self.np_random = np.random.default_rng(seed)
        self.state = self.np_random.uniform(-0.05, 0.05, 4)
        self.steps = 0
        return self.state.astype(np.float32), {}

    def step(self, action):
        x, velocity, angle, spin = self.state
        force = 10.0 if action == 1 else -10.0
        sin, cos = math.sin(angle), math.cos(angle)
        pull = (force + 0.05 * spin**2 * sin) / 1.1
        acceleration = (9.8 * sin - cos * pull) / (0.5 * (4.0 / 3.0 - 0.1 * cos**2 / 1.1))
        push = pull - 0.05 * acceleration * cos / 1.1
        step = np.array([velocity, push, spin, acceleration])
        self.state = self.state + 0.02 * step
        self.steps += 1
        terminated = bool(abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.2095)
        truncated = self.steps >= self.max_steps
        return self.state.astype(np.float32), 1.0, terminated, truncated, {}


class ReplayMemory(object):
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, batch_size):
        return random.sample(self.memory, batch_size)

    def __len__(self):
        return len(self.memory)


class DQN(nn.Module):
    def __init__(self, n_observations, n_actions):
        super(DQN, self).__init__()
        self.layer1 = nn.Linear(n_observations, 64)
        self.layer2 = nn.Linear(64, 64)
        self.layer3 = nn.Linear(64, n_actions)

    def forward(self, x):
        x = F.relu(self.layer1(x))
        x = F.relu(self.layer2(x))
        return self.layer3(x)


class Agent:
    def __init__(self, args, n_observations, n_actions, device):
        self.args = args
        self.device = device
        self.n_actions = n_actions
        self.policy_net = DQN(n_observations, n_actions).to(device)
        self.target_net = DQN(n_observations, n_actions).to(device)
        self.target_net.load_state_dict(self.policy_net.state_dict())
        self.optimizer = optim.AdamW(self.policy_net.parameters(), lr=args.lr, amsgrad=True)
        self.memory = ReplayMemory(2000)
        self.steps_done = 0

    def select_action(self, state):
        eps_threshold = 0.05 + 0.85 * math.exp(-self.steps_done / 200)
        self.steps_done += 1
        if random.random() > eps_threshold:
            with torch.no_grad():
                return self.policy_net(state).max(1).indices.view(1, 1)
        action = random.randrange(self.n_actions)
        return torch.tensor([[action]], device=self.device, dtype=torch.long)

    def optimize_model(self):
        if len(self.memory) < self.args.batch_size:
            return None
        batch = Transition(*zip(*self.memory.sample(self.args.batch_size)))
        non_final_mask = torch.tensor(
            tuple(s is not None for s in batch.next_state), device=self.device, dtype=torch.bool
        )
        non_final_next_states = torch.cat([s for s in batch.next_state if s is not None])
        state_batch = torch.cat(batch.state)
        action_batch = torch.cat(batch.action)
        reward_batch = torch.cat(batch.reward)

        state_action_values = self.policy_net(state_batch).gather(1, action_batch)
        next_state_values = torch.zeros(self.args.batch_size, device=self.device)
        with torch.no_grad():
            next_values = self.target_net(non_final_next_states).max(1).values
            next_state_values[non_final_mask] = next_values
        expected = next_state_values * self.args.gamma + reward_batch

        loss = nn.SmoothL1Loss()(state_action_values, expected.unsqueeze(1))
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_value_(self.policy_net.parameters(), 100)
        self.optimizer.step()
        return loss.item()

    def update_target(self):
        target_state = self.target_net.state_dict()
        policy_state = self.policy_net.state_dict()
        for key in policy_state:
            target_state[key] = policy_state[key] * self.args.tau + target_state[key] * (
                1 - self.args.tau
            )
        self.target_net.load_state_dict(target_state)


def main():
    parser = ArgumentParser()
    parser.add_argument("--episodes", type=int, default=180)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--gamma", type=float, default=0.95)
    parser.add_argument("--tau", type=float, default=0.01)
    parser.add_argument("--lr", type=float, default=3e-4)
    parser.add_argument("--seed", type=int, default=5)
    args = parser.parse_args()
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    env = PoleEnv()
    state, info = env.reset(seed=args.seed)
    agent = Agent(args, len(state), env.action_space.n, device)
    durations = []
    for i_episode in range(args.episodes):
        state, info = env.reset()
        state = torch.tensor(state, dtype=torch.float32, device=device).unsqueeze(0)
        losses = []
        for t in count():
            action = agent.select_action(state)
            observation, reward, terminated, truncated, _ = env.step(action.item())
            reward = torch.tensor([reward], device=device)
            if terminated:
                next_state = None
            else:
                next_state = torch.tensor(observation, dtype=torch.float32, device=device)
                next_state = next_state.unsqueeze(0)
            agent.memory.push(state, action, next_state, reward)
            state = next_state
            loss = agent.optimize_model()
            if loss is not None:
                losses.append(loss)
            agent.update_target()
            if terminated or truncated:
                durations.append(t + 1)
                break
        if (i_episode + 1) % 20 == 0:
            mean = sum(durations[-20:]) / 20
            mean_loss = sum(losses) / max(1, len(losses))
            print(f"episode {i_episode + 1:3d} duration {mean:5.1f} loss {mean_loss:.6f}")


if __name__ == "__main__":
    main()
