namespace ActOp.Border.Tests;

public interface ITrouble : IGrainWithStringKey
{
    Task Run();

    Task<int> Number();

    ValueTask Flow();

    Task End();

    Task Tick();

    Task Tell(ITroubleObserver observer);

    Task<TroubledThing> Echo(TroubledThing? thing);

    Task Raise();

    Task Wait(CancellationToken cancellation);

    Task Extend();
}

public interface ICalm : IGrainWithStringKey
{
    Task<SiloAddress> Where();

    /// <summary>Ends when a timer has ticked.</summary>
    Task Tick();
}

public interface IKept : IGrainWithStringKey
{
    Task Read();

    Task Write();

    Task Clear();
}

public interface IAsked : IGrainWithStringKey
{
    Task Ask();
}

public interface IPlaced : IAsked;

public interface IFilteredPlace : IAsked;

public interface IMadeElsewhere : IAsked
{
    Task End();
}

public interface IListed : IAsked
{
    Task End();
}

public interface IGuarded : IGrainWithStringKey
{
    Task Ask(int number);
}

public interface ITroubleObserver : IGrainObserver
{
    Task Hear();
}

public interface ITroubleExtension : IGrainExtension
{
    Task Ask();
}

public sealed class BorderCalm(ILocalSiloDetails silo) : Grain, ICalm
{
    public Task<SiloAddress> Where() => Task.FromResult(silo.SiloAddress);

    public Task Tick()
    {
        var ticked = new TaskCompletionSource();
        this.RegisterGrainTimer(
            () =>
            {
                ticked.TrySetResult();
                return Task.CompletedTask;
            }, new GrainTimerCreationOptions(TimeSpan.Zero, Timeout.InfiniteTimeSpan) { Interleave = true });
        return ticked.Task;
    }
}

public sealed class BorderTrouble : Grain, ITrouble, IAsyncDisposable, ILifecycleParticipant<IGrainLifecycle>, IGrainMigrationParticipant
{
    public BorderTrouble() => Mischief.Act("constructor");

    public void Participate(IGrainLifecycle lifecycle)
    {
        Mischief.Act("lifecycle participant");
        lifecycle.Subscribe("trouble", GrainLifecycleStage.SetupState,
            static _ => Mischief.ActAsync("start of a lifecycle stage"), static _ => Mischief.ActAsync("end of a lifecycle stage"));
    }

    public override Task OnActivateAsync(CancellationToken cancellationToken) => Mischief.ActAsync("OnActivateAsync");

    public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken) =>
        Mischief.ActAsync("OnDeactivateAsync");

    public void OnDehydrate(IDehydrationContext dehydrationContext) => Mischief.Act("OnDehydrate");

    public void OnRehydrate(IRehydrationContext rehydrationContext) => Mischief.Act("OnRehydrate");

    public Task Run() => Mischief.ActAsync("grain method");

    public Task<int> Number() => Mischief.ActAsync("grain method with a result", static () => 1);

    public ValueTask Flow() => Mischief.DeedOf("grain method with a value task") is Deed.ReturnsForeign
        ? new ValueTask(new BrokenSource(), 0) : new ValueTask(Mischief.ActAsync("grain method with a value task"));

    public Task End()
    {
        DeactivateOnIdle();
        return Task.CompletedTask;
    }

    public Task Tick()
    {
        this.RegisterGrainTimer(static () => Mischief.ActAsync("timer"), TimeSpan.Zero, Timeout.InfiniteTimeSpan);
        return Task.CompletedTask;
    }

    public Task Tell(ITroubleObserver observer) => observer.Hear();

    public Task<TroubledThing> Echo(TroubledThing? thing) => Task.FromResult(thing ?? new TroubledThing(1));

    public Task Raise() => throw new TroubledException();

    public async Task Wait(CancellationToken cancellation)
    {
        using var registration = cancellation.Register(static () => Mischief.Act("callback on a token"));
        await Task.Delay(Timeout.InfiniteTimeSpan, TimeProvider.System, cancellation);
    }

    public Task Extend()
    {
        GrainContext.GetComponent<IGrainExtensionBinder>()!.GetOrSetExtension<TroubleExtension, ITroubleExtension>(static () =>
        {
            Mischief.Act("factory of an extension");
            return Mischief.DeedOf("factory of an extension") is Deed.ReturnsNull ? null! : new TroubleExtension();
        });
        return this.AsReference<ITroubleExtension>().Ask();
    }

    public ValueTask DisposeAsync()
    {
        GC.SuppressFinalize(this);
        return new ValueTask(Mischief.ActAsync("DisposeAsync"));
    }

    /// <summary>A source that fails in whatever is asked of it.</summary>
    private sealed class BrokenSource : System.Threading.Tasks.Sources.IValueTaskSource
    {
        public void GetResult(short token) => throw new FormatException(Mischief.Word);

        public System.Threading.Tasks.Sources.ValueTaskSourceStatus GetStatus(short token) => default;

        public void OnCompleted(
            Action<object?> continuation, object? state, short token,
            System.Threading.Tasks.Sources.ValueTaskSourceOnCompletedFlags flags) => throw new FormatException(Mischief.Word);
    }
}

public sealed class TroubleExtension : ITroubleExtension
{
    public Task Ask() => Mischief.ActAsync("method of an extension");
}

public sealed class BorderKept([PersistentState("kept", "border")] IPersistentState<int> state) : Grain, IKept
{
    public Task Read() => state.ReadStateAsync();

    public Task Write() => state.WriteStateAsync();

    public Task Clear() => state.ClearStateAsync();
}

[BorderPlacement]
public sealed class BorderPlaced : Grain, IPlaced
{
    public Task Ask() => Task.CompletedTask;
}

[BorderFilter]
public sealed class BorderFilteredPlace : Grain, IFilteredPlace
{
    public Task Ask() => Task.CompletedTask;
}

public sealed class BorderMade : Grain, IMadeElsewhere
{
    public Task Ask() => Task.CompletedTask;

    public Task End()
    {
        DeactivateOnIdle();
        return Task.CompletedTask;
    }
}

[Orleans.GrainDirectory.GrainDirectory("border")]
public sealed class BorderListed : Grain, IListed
{
    public Task Ask() => Task.CompletedTask;

    public Task End()
    {
        DeactivateOnIdle();
        return Task.CompletedTask;
    }
}

[Orleans.Concurrency.MayInterleave(nameof(MayInterleave))]
public sealed class BorderGuarded : Grain, IGuarded
{
    public static bool MayInterleave(Orleans.Serialization.Invocation.IInvokable request)
    {
        ArgumentNullException.ThrowIfNull(request);
        Mischief.Act("MayInterleave");
        return false;
    }

    public async Task Ask(int number) => await Task.Yield();
}

/// <summary>A type whose converter may fail.</summary>
public readonly struct TroubledThing(int number)
{
    public int Number { get; } = number;
}

[GenerateSerializer]
public struct TroubledSurrogate
{
    [Id(0)]
    public int Number;
}

[RegisterConverter]
public sealed class TroubledConverter : IConverter<TroubledThing, TroubledSurrogate>
{
    public TroubledThing ConvertFromSurrogate(in TroubledSurrogate surrogate)
    {
        Mischief.Act("reading converter");
        return new TroubledThing(surrogate.Number);
    }

    public TroubledSurrogate ConvertToSurrogate(in TroubledThing value)
    {
        Mischief.Act("writing converter");
        return new TroubledSurrogate { Number = value.Number };
    }
}

/// <summary>An exception that fails when it is looked at.</summary>
public sealed class TroubledException : Exception
{
    public override string Message
    {
        get
        {
            Mischief.Act("exception of the application");
            return "troubled";
        }
    }

    public override string? StackTrace
    {
        get
        {
            Mischief.Act("exception of the application");
            return base.StackTrace;
        }
    }
}
