using ActOp.Runtime.Directory;
using Orleans.Runtime;

namespace ActOp.Cluster.Tests.Simulation;

/// <summary>The activations of a simulated silo and how they are registered.</summary>
internal sealed partial class SimulatedSilo : ILocalActivations
{
    /// <summary>Activations by grain; an epoch of 0 means that the registration is under way.</summary>
    public Dictionary<GrainId, Location> Activations { get; } = [];

    /// <summary>
    /// Activations that have handed over their state and wait for the word of their target: they run nothing more, and they are reported
    /// until they leave.
    /// </summary>
    public Dictionary<GrainId, Location> Leaving { get; } = [];

    /// <summary>Registered activations that the directory told to end although they ran.</summary>
    public List<Registration> Killed { get; } = [];

    public void CollectRegistered(SlotSet slots, List<Registration> into)
    {
        foreach (var (grain, location) in Activations.Concat(Leaving))
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
        if (MayHost(grain))
        {
            Begin(grain, default, null);
        }
    }

    /// <summary>
    /// Moves the grain to the target, whose activation takes <paramref name="activationTime"/> from its registration to its answer.
    /// </summary>
    public void Migrate(GrainId grain, SimulatedSilo target, int activationTime)
    {
        if (!MayRunTurns || target == this || !Activations.TryGetValue(grain, out var location) || location.Epoch == 0)
        {
            return;
        }

        Activations.Remove(grain);
        Leaving[grain] = location;
        _cluster.Send(this, target.Address, to => to.Input(() => to.Accept(this, grain, location.Activation, activationTime)));
        _cluster.After(activationTime + 30_000, () => Input(() => Left(grain, location, moved: false)));
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
            if (here.Epoch != 0)
            {
                Killed.Add(loser);
            }
        }
    }

    private bool MayHost(GrainId grain) =>
        MayRunTurns && Protocol.View.StatusOf(Address) == SiloStatus.Active && !Activations.ContainsKey(grain)
            && !Leaving.ContainsKey(grain);

    private void Begin(GrainId grain, ActivationId previous, Action<bool>? begun)
    {
        var activation = new ActivationId(
            new Guid(_cluster.Random.Next(), (short)Port, (short)Address.Generation, BitConverter.GetBytes(_cluster.Random.NextInt64())));
        Activations[grain] = new Location(Address, activation, 0);
        Input(() => Register(new RegisterRequest(grain, Address, activation, previous), 40, begun));
    }

    private void Accept(SimulatedSilo source, GrainId grain, ActivationId previous, int activationTime)
    {
        var location = new Location(source.Address, previous, 0);
        if (!MayHost(grain))
        {
            _cluster.Send(this, source.Address, to => to.Input(() => to.Left(grain, location, moved: false)));
            return;
        }

        Begin(grain, previous, begun => _cluster.After(begun ? activationTime : 0, () => Input(() =>
            _cluster.Send(this, source.Address, to => to.Input(() => to.Left(grain, location, begun))))));
    }

    private void Left(GrainId grain, Location location, bool moved)
    {
        if (!Leaving.TryGetValue(grain, out var here) || !here.Activation.Equals(location.Activation))
        {
            return;
        }

        Leaving.Remove(grain);
        if (!moved)
        {
            Unregister(new Registration(grain, here));
        }
    }

    private void Register(RegisterRequest request, int triesLeft, Action<bool>? begun)
    {
        if (!IsPending(request))
        {
            return;
        }

        var answered = false;
        if (Directory.Map.OwnerOf(request.Grain) is { } owner && triesLeft > 0)
        {
            _cluster.Send(this, owner, to => to.Input(() =>
            {
                var reply = to.Directory.Register(request);
                _cluster.Send(to, Address, back => back.Input(() =>
                {
                    answered = true;
                    back.Registered(request, reply, triesLeft, begun);
                }));
            }));
        }
        else if (triesLeft == 0)
        {
            Activations.Remove(request.Grain);
            Unregister(new Registration(request.Grain, new Location(Address, request.Activation, 0)));
            begun?.Invoke(false);
            return;
        }

        _cluster.After(300, () => Input(() =>
        {
            if (!answered)
            {
                Register(request, triesLeft - 1, begun);
            }
        }));
    }

    private bool IsPending(RegisterRequest request) =>
        !Protocol.IsStopped && Activations.TryGetValue(request.Grain, out var here) && here.Activation.Equals(request.Activation)
            && here.Epoch == 0;

    private void Registered(RegisterRequest request, DirectoryReply reply, int triesLeft, Action<bool>? begun)
    {
        if (!IsPending(request))
        {
            return;
        }

        if (reply.Status == DirectoryStatus.Ok && Fence.Accepts(SlotMap.SlotOf(request.Grain), reply.View))
        {
            Activations[request.Grain] = reply.Location;
            begun?.Invoke(true);
        }
        else if (reply.Status == DirectoryStatus.Conflict)
        {
            Activations.Remove(request.Grain);
            AskWinner(new Registration(request.Grain, reply.Location));
            begun?.Invoke(false);
        }
        else
        {
            _cluster.After(reply.Status == DirectoryStatus.Ok ? 1 : 250, () => Input(() => Register(request, triesLeft - 1, begun)));
        }
    }

    // What a message to the winner would find out: whether the registration is a left-over that its silo must clear.
    private void AskWinner(Registration winner) =>
        _cluster.Send(this, winner.Location.Silo, to => to.Input(() =>
        {
            if (!to.Holds(winner))
            {
                to.Unregister(winner);
            }
        }));

    private bool Holds(Registration registration) =>
        (Activations.TryGetValue(registration.Grain, out var here) || Leaving.TryGetValue(registration.Grain, out here))
            && here.Activation.Equals(registration.Location.Activation);

    private void Unregister(Registration registration)
    {
        if (Directory.Map.OwnerOf(registration.Grain) is { } owner)
        {
            _cluster.Send(this, owner, to => to.Input(() => to.Directory.Unregister(registration.Grain, registration.Location.Activation)));
        }
    }
}
