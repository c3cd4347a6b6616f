using ActOp.Runtime.Directory;
using Orleans.Runtime;

namespace ActOp.Cluster.Tests.Simulation;

/// <summary>The activations of a simulated silo and how they are registered.</summary>
internal sealed partial class SimulatedSilo : ILocalActivations
{
    /// <summary>Activations by grain; an epoch of 0 means that the registration is under way.</summary>
    public Dictionary<GrainId, Location> Activations { get; } = [];

    public void CollectRegistered(SlotSet slots, List<Registration> into)
    {
        foreach (var (grain, location) in Activations)
        {
            if (location.Epoch != 0 && slots.Contains(SlotMap.SlotOf(grain)))
            {
                into.Add(new Registration(grain, location));
            }
        }
    }

    /// <summary>Wants the grain to run here.</summary>
    public void Activate(GrainId grain)
    {
        if (MayRunTurns && Protocol.View.StatusOf(Address) == SiloStatus.Active && !Activations.ContainsKey(grain))
        {
            var activation = new ActivationId(new Guid(_cluster.Random.Next(), (short)Port, (short)Address.Generation, BitConverter.GetBytes(_cluster.Random.NextInt64())));
            Activations[grain] = new Location(Address, activation, 0);
            Input(() => Register(grain, activation, 40));
        }
    }

    public void Deactivate(GrainId grain)
    {
        if (Activations.TryGetValue(grain, out var location) && location.Epoch != 0)
        {
            Activations.Remove(grain);
            Unregister(new Registration(grain, location));
        }
    }

    private void End(Registration loser)
    {
        if (Activations.TryGetValue(loser.Grain, out var here) && here.Activation.Equals(loser.Location.Activation))
        {
            Activations.Remove(loser.Grain);
        }
    }

    private void Register(GrainId grain, ActivationId activation, int triesLeft)
    {
        if (!IsPending(grain, activation))
        {
            return;
        }

        var answered = false;
        if (Directory.Map.OwnerOf(grain) is { } owner && triesLeft > 0)
        {
            var request = new RegisterRequest(grain, Address, activation);
            _cluster.Send(this, owner, to => to.Input(() =>
            {
                var reply = to.Directory.Register(request);
                _cluster.Send(to, Address, back => back.Input(() =>
                {
                    answered = true;
                    back.Registered(grain, activation, reply, triesLeft);
                }));
            }));
        }
        else if (triesLeft == 0)
        {
            Activations.Remove(grain);
            Unregister(new Registration(grain, new Location(Address, activation, 0)));
            return;
        }

        _cluster.After(300, () => Input(() =>
        {
            if (!answered)
            {
                Register(grain, activation, triesLeft - 1);
            }
        }));
    }

    private bool IsPending(GrainId grain, ActivationId activation) =>
        !Protocol.IsStopped && Activations.TryGetValue(grain, out var here) && here.Activation.Equals(activation) && here.Epoch == 0;

    private void Registered(GrainId grain, ActivationId activation, DirectoryReply reply, int triesLeft)
    {
        if (!IsPending(grain, activation))
        {
            return;
        }

        if (reply.Status == DirectoryStatus.Ok && Fence.Accepts(SlotMap.SlotOf(grain), reply.View))
        {
            Activations[grain] = reply.Location;
        }
        else if (reply.Status == DirectoryStatus.Conflict)
        {
            Activations.Remove(grain);
            AskWinner(new Registration(grain, reply.Location));
        }
        else
        {
            _cluster.After(reply.Status == DirectoryStatus.Ok ? 1 : 250, () => Input(() => Register(grain, activation, triesLeft - 1)));
        }
    }

    // What a message to the winner would find out: whether the registration is a left-over that its silo must clear.
    private void AskWinner(Registration winner) =>
        _cluster.Send(this, winner.Location.Silo, to => to.Input(() =>
        {
            if (!to.Activations.TryGetValue(winner.Grain, out var here) || !here.Activation.Equals(winner.Location.Activation))
            {
                to.Unregister(winner);
            }
        }));

    private void Unregister(Registration registration)
    {
        if (Directory.Map.OwnerOf(registration.Grain) is { } owner)
        {
            _cluster.Send(this, owner, to => to.Input(() => to.Directory.Unregister(registration.Grain, registration.Location.Activation)));
        }
    }
}
