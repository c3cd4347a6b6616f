using System.Runtime.CompilerServices;
using ActOp.Placement;
using ActOp.Simulation.Checks;
using ActOp.Simulation.World;
using ActOp.Testing.Simulated;
using Microsoft.Extensions.DependencyInjection;

namespace ActOp.Simulation.Load;

/// <summary>A grain whose items are enumerated.</summary>
public interface IFeed : IGrainWithIntegerKey
{
    /// <summary>The items of the enumeration with this id: 0, 1, 2 and so on.</summary>
    IAsyncEnumerable<long> Items(long id, CancellationToken cancellationToken);

    /// <summary>Takes a while, in which only enumerations go on.</summary>
    Task Work(int milliseconds);

    /// <summary>Ends the activation.</summary>
    [AlwaysInterleave]
    Task Leave();

    /// <summary>Moves the activation to another silo.</summary>
    [AlwaysInterleave]
    Task Move();
}

/// <inheritdoc cref="IFeed"/>
/// <remarks>The runtime may move it, as long as nobody enumerates it.</remarks>
[Movable]
internal sealed class Feed(FeedLoad load, Machine machine) : Grain, IFeed
{
    internal const string Failure = "The feed has failed.";

    public async IAsyncEnumerable<long> Items(long id, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var sequence = load.Opened(id, machine, GrainContext);
        try
        {
            for (var number = 0; number < sequence.Count; number++)
            {
                var pause = load.Pause(sequence);
                if (pause > TimeSpan.Zero)
                    await Task.Delay(pause, machine.AppClock, sequence.IsDeaf ? CancellationToken.None : cancellationToken);
                if (number == sequence.FailsAt)
                    throw new InvalidOperationException(Failure);
                load.Made(sequence);
                yield return number;
            }
        }
        finally
        {
            load.Closed(sequence);
        }
    }

    public async Task Work(int milliseconds) => await Task.Delay(TimeSpan.FromMilliseconds(milliseconds), machine.AppClock);

    public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken)
    {
        load.Ends(reason);
        return Task.CompletedTask;
    }

    public Task Leave()
    {
        load.Disturbed(this.GetPrimaryKeyLong());
        DeactivateOnIdle();
        return Task.CompletedTask;
    }

    public Task Move()
    {
        load.Disturbed(this.GetPrimaryKeyLong());
        MigrateOnIdle();
        return Task.CompletedTask;
    }
}

/// <summary>What a consumer does with the items.</summary>
internal enum Consuming
{
    All,

    /// <summary>Leaves the loop before the end.</summary>
    Stops,

    /// <summary>Throws in the loop.</summary>
    Throws,

    /// <summary>Cancels its token at any moment.</summary>
    Cancels,

    /// <summary>Pauses between the items, at times for longer than the grain waits.</summary>
    Slowly,

    /// <summary>Takes a moment for each item, so that the enumeration is open for long and the grain mostly idle.</summary>
    Steadily,
}

/// <summary>One enumeration, from the one who sees both ends.</summary>
internal sealed class Sequence(long id, long feed, Machine consumer, long since)
{
    internal long Id => id;

    internal long Feed => feed;

    internal Machine Consumer => consumer;

    internal long Since => since;

    internal int Count { get; init; }

    internal int Batch { get; init; }

    /// <summary>The item that is an exception; negative for none.</summary>
    internal int FailsAt { get; init; }

    internal Consuming Consuming { get; init; }

    /// <summary>The item after which the consumer ends it.</summary>
    internal int Until { get; init; }

    internal bool HasPauses { get; init; }

    /// <summary>The producer takes a moment for each item, so that its consumer waits most of the time.</summary>
    internal bool IsSlow { get; init; }

    /// <summary>The producer takes no notice of its token.</summary>
    internal bool IsDeaf { get; init; }

    /// <summary>The process that has the enumerator; null if none has.</summary>
    internal Machine? HeldBy { get; set; }

    internal bool WasOpened { get; set; }

    internal int Made { get; set; }

    internal int Received { get; set; }

    internal bool IsCancelled { get; set; }

    /// <summary>The consumer may have paused for as long as the grain keeps an enumeration.</summary>
    internal bool HasRested { get; set; }

    /// <summary>The consumer has stopped because the run ends.</summary>
    internal bool WasLeft { get; set; }

    public override string ToString() => "The enumeration " + id + " of feed " + feed + " by " + consumer.Name + " (" + Count
        + " items, batch " + Batch + ", " + Consuming + ")";
}

/// <summary>
/// Enumerations whose consumers stop, throw, pause and cancel while the grains move and end: the items come in order, none twice, and none
/// is missing unless the enumeration ends with an exception. The grain is never further ahead than a batch. An enumerator is given back
/// soon after its consumer has ended, if nothing goes wrong, and in any case when nobody asks any more.
/// </summary>
internal sealed class FeedLoad(World.World world, Ledger ledger)
{
    private const int CallersPerMachine = 3;
    private const int Feeds = 6;

    /// <summary>What a slow producer, or a steady consumer, takes for an item.</summary>
    private const long ItemTime = 20 * Pump.Millisecond;

    /// <summary>A steady consumer of the items of one batch asks again within the shortest collection age.</summary>
    private const int SteadyBatch = 10;

    /// <summary>The most items of one answer.</summary>
    private const int MostTogether = Runtime.Calls.Enumerations.MaxBatch;

    private const string ConsumerFailure = "The consumer has failed.";

    private readonly Dice _dice = world.Dice.Fork("feeds");
    private readonly Dictionary<long, Sequence> _sequences = [];
    private readonly Dictionary<long, long> _disturbed = [];
    private readonly HashSet<Sequence> _running = [];
    private readonly ConnectionSteps _steps = new(world, world.Dice.Fork("middleware"));
    private bool _isOver;

    /// <summary>From the end of a consumer to that of its enumerator: queues, slow stages, and the step that the producer is in.</summary>
    private static long LongestWay => 3 * Pump.Second;

    /// <summary>What middleware has done to a connection is felt for this long: dials, and calls that wait for their answers.</summary>
    private long Aftermath => (15 * Pump.Second) + world.Settings.ResponseTimeout.Ticks;

    internal void Configure(Machine machine, IServiceCollection services)
    {
        services.AddSingleton(this);
        _steps.Configure(machine, services);
    }

    internal void BeginFaults() => _steps.BeginFaults();

    internal void EndFaults() => _steps.EndFaults();

    internal void End() => _isOver = true;

    internal void Begin(Machine machine)
    {
        for (var caller = 0; caller < CallersPerMachine; caller++)
            _ = LoopAsync(machine, Draw);
        _ = LoopAsync(machine, DrawLong);
    }

    /// <summary>An activation of a feed ends.</summary>
    internal void Ends(DeactivationReason reason) => ledger.Count("feed ended: " + reason.ReasonCode);

    /// <summary>The producer of an enumeration runs.</summary>
    internal Sequence Opened(long id, Machine machine, IGrainContext grain)
    {
        var sequence = _sequences[id];
        world.Pump.Note(machine, EventKind.Check, "feed " + id);
        if (sequence.WasOpened)
            ledger.Accuse("twice", sequence + " was opened twice, now by " + grain.GrainId + " on " + machine.Name + ".");
        if (RequestContext.Get(Numbers.Ticket) is not long ticket || ticket != id)
            ledger.Accuse("context", sequence + " has the request context of the call " + RequestContext.Get(Numbers.Ticket) + ".");
        sequence.WasOpened = true;
        sequence.HeldBy = machine;
        return sequence;
    }

    /// <summary>The producer has an item.</summary>
    internal void Made(Sequence sequence)
    {
        sequence.Made++;
        var ahead = sequence.Made - sequence.Received;
        if (ahead > Math.Min(sequence.Batch, MostTogether))
            ledger.Accuse("ahead", sequence + " is " + ahead + " items ahead of its consumer.");
    }

    internal void Closed(Sequence sequence)
    {
        sequence.HeldBy = null;
        ledger.Count("feed closed");
    }

    /// <summary>The feed was asked to end or to move: its enumerations may be aborted.</summary>
    internal void Disturbed(long feed) => _disturbed[feed] = world.Pump.Now;

    /// <summary>How long the producer takes for the next item.</summary>
    internal TimeSpan Pause(Sequence sequence) => sequence.IsSlow && !_isOver ? TimeSpan.FromTicks(1 + _dice.Exponential(ItemTime))
        : !sequence.HasPauses || _isOver || !_dice.Chance(0.1) ? TimeSpan.Zero
        : TimeSpan.FromTicks(_dice.Exponential(_dice.Chance(0.05) ? 2 * Pump.Second : 5 * Pump.Millisecond));

    /// <summary>Nobody enumerates any more.</summary>
    internal void CheckRest()
    {
        foreach (var sequence in _running)
        {
            if (!sequence.Consumer.IsDead)
                ledger.Accuse("unanswered", sequence + " has not ended: " + sequence.Received + " items have come.");
        }

        foreach (var sequence in _sequences.Values)
        {
            if (sequence.HeldBy is { IsDead: false } machine)
                ledger.Accuse("held", sequence + " is held by " + machine.Name + " though nobody asks any more.");
        }

        foreach (var machine in world.Silos)
        {
            foreach (var activation in machine.Node.Activations)
            {
                if (activation.ExistingExtras?.Enumerations is { Count: > 0 and var count })
                    ledger.Accuse("held", activation + " keeps " + count + " enumerations.");
            }
        }
    }

    private async Task LoopAsync(Machine machine, Func<Machine, long, Sequence> draw)
    {
        while (!_isOver && machine is { State: MachineState.Up, IsDead: false })
        {
            await Task.Delay(TimeSpan.FromTicks(1 + _dice.Exponential(100 * Pump.Millisecond)), machine.AppClock);
            if (_isOver || machine is not { State: MachineState.Up, IsDead: false })
                return;
            var feed = 1 + _dice.Below(Feeds);
            if (_dice.Chance(0.05))
                await DisturbAsync(machine.Grains.GetGrain<IFeed>(feed));
            else
                await EnumerateAsync(machine, feed, draw(machine, feed));
        }
    }

    private async Task DisturbAsync(IFeed feed)
    {
        try
        {
            await (_dice.Below(3) switch
            {
                0 => feed.Leave(),
                1 => feed.Move(),
                _ => feed.Work(_dice.Below(500)),
            });
        }
        catch (Exception exception)
        {
            ledger.Count("feed " + exception.GetType().Name);
        }
    }

    private Sequence Draw(Machine machine, long feed)
    {
        var count = _dice.Pick<int>([0, 1, 5, 99, 100, 101, 300, MostTogether, MostTogether + 1, 3000]);
        return new Sequence(ledger.NextId(), feed, machine, world.Pump.Now)
        {
            Count = count,
            Batch = _dice.Pick<int>([1, 3, 10, 100, 100, MostTogether, int.MaxValue]),
            FailsAt = count > 0 && _dice.Chance(0.15) ? _dice.Below(count) : -1,
            Consuming = _dice.Pick<Consuming>(
                [Consuming.All, Consuming.All, Consuming.Stops, Consuming.Throws, Consuming.Cancels, Consuming.Slowly]),
            Until = _dice.Below(count + 1),
            HasPauses = _dice.Chance(0.5),
            IsDeaf = _dice.Chance(0.2),
        };
    }

    /// <summary>Open for seconds: either the consumer or the producer takes its time.</summary>
    private Sequence DrawLong(Machine machine, long feed)
    {
        var count = _dice.Pick<int>([100, 300, 1000]);
        var isSlow = _dice.Chance(0.5);
        return new Sequence(ledger.NextId(), feed, machine, world.Pump.Now)
        {
            Count = count,
            Batch = isSlow ? _dice.Pick<int>([1, 10, 100]) : _dice.Pick<int>([1, 3, SteadyBatch]),
            FailsAt = _dice.Chance(0.15) ? _dice.Below(count) : -1,
            Consuming = !isSlow ? Consuming.Steadily : _dice.Pick<Consuming>([Consuming.All, Consuming.Stops, Consuming.Cancels]),
            Until = _dice.Below(count + 1),
            IsSlow = isSlow,
            IsDeaf = _dice.Chance(0.2),
        };
    }

    private async Task EnumerateAsync(Machine machine, long feed, Sequence sequence)
    {
        _sequences.Add(sequence.Id, sequence);
        _running.Add(sequence);
        RequestContext.Set(Numbers.Ticket, sequence.Id);
        using var source = new CancellationTokenSource();
        Exception? failure = null;
        try
        {
            await ConsumeAsync(sequence, machine.Grains.GetGrain<IFeed>(feed).Items(sequence.Id, source.Token), source);
        }
        catch (Exception exception)
        {
            failure = exception;
        }

        _running.Remove(sequence);
        world.Pump.Note(machine, EventKind.Load, "enumerated " + sequence.Id + " " + (failure?.GetType().Name ?? "ok"));
        ledger.Count("feed " + (failure?.GetType().Name ?? "ok"));
        ledger.Count("feed items", sequence.Received);
        ledger.Excuses.See(Excuse.Calls);
        if (machine.IsDead)
            return;
        CheckEnd(sequence, failure);
        if (world.IsCalm)
            world.Pump.After(LongestWay, null, EventKind.Check, "closed", () => CheckClosed(sequence));
    }

    private async Task ConsumeAsync(Sequence sequence, IAsyncEnumerable<long> items, CancellationTokenSource source)
    {
        if (sequence.Consuming == Consuming.Cancels && _dice.Chance(0.3))
        {
            // Also before the first answer.
            var delay = _dice.Exponential(20 * Pump.Millisecond);
            world.Pump.After(delay, sequence.Consumer, EventKind.Load, "cancel", () => Cancel(sequence, source));
        }

        await foreach (var item in items.WithBatchSize(sequence.Batch))
        {
            if (item != sequence.Received)
            {
                ledger.Accuse("items", sequence + " has brought the item " + item + " where " + sequence.Received + " was due.");
                return;
            }

            sequence.Received++;
            if (_isOver)
            {
                sequence.WasLeft = true;
                break;
            }

            if (sequence.Consuming == Consuming.Slowly && _dice.Chance(0.02))
                await RestAsync(sequence);
            if (sequence.Consuming == Consuming.Steadily)
                await Task.Delay(TimeSpan.FromTicks(1 + Math.Min(_dice.Exponential(ItemTime), 5 * ItemTime)), sequence.Consumer.AppClock);
            if (sequence.Received <= sequence.Until)
                continue;
            if (sequence.Consuming == Consuming.Stops)
                break;
            if (sequence.Consuming == Consuming.Throws)
                throw new InvalidOperationException(ConsumerFailure);
            if (sequence.Consuming == Consuming.Cancels)
                Cancel(sequence, source);
        }
    }

    private void Cancel(Sequence sequence, CancellationTokenSource source)
    {
        if (!_running.Contains(sequence))
            return;
        sequence.IsCancelled = true;
        source.Cancel();
    }

    private async Task RestAsync(Sequence sequence)
    {
        var limit = world.Settings.ResponseTimeout.Ticks;
        var pause = _isOver ? 0 : Math.Min(_dice.Exponential(_dice.Chance(0.1) ? limit : 20 * Pump.Millisecond), 2 * limit);
        // All pauses of one batch count together.
        sequence.HasRested |= pause > limit / 10;
        if (pause > 0)
            await Task.Delay(TimeSpan.FromTicks(pause), sequence.Consumer.AppClock);
    }

    private void CheckEnd(Sequence sequence, Exception? failure)
    {
        if (failure is null)
        {
            var isWhole = sequence.Received == sequence.Count && sequence.FailsAt < 0;
            if (!isWhole && !sequence.WasLeft && !(sequence.Consuming == Consuming.Stops && sequence.Received == sequence.Until + 1))
                ledger.Accuse("items", sequence + " has ended in order after " + sequence.Received + " items.");
        }
        else if (failure is InvalidOperationException { Message: Feed.Failure })
        {
            if (sequence.Received != sequence.FailsAt)
                ledger.Accuse("items", sequence + " has failed after " + sequence.Received + " items, not " + sequence.FailsAt + ".");
        }
        else if (!IsOwn(sequence, failure))
        {
            CheckFailure(sequence, failure);
        }
    }

    private static bool IsOwn(Sequence sequence, Exception failure) =>
        failure is InvalidOperationException { Message: ConsumerFailure } ? sequence.Consuming == Consuming.Throws
        : failure is OperationCanceledException && sequence.IsCancelled;

    private void CheckFailure(Sequence sequence, Exception failure)
    {
        var isTyped = failure is TimeoutException or SiloUnavailableException or EnumerationAbortedException
            or OrleansMessageRejectionException or ClientNotAvailableException or LimitExceededException
            || (failure is ObjectDisposedException && sequence.Consumer.State != MachineState.Up);
        var isDisturbed = _disturbed.GetValueOrDefault(sequence.Feed, long.MinValue) >= sequence.Since - LongestWay;
        if (!isTyped)
            ledger.Accuse("untyped", sequence + " has ended with " + failure);
        else if (failure is EnumerationAbortedException && (isDisturbed || sequence.HasRested))
            ledger.Count("feed aborted as it must be");
        else if (world.IsCalm)
            ledger.Accuse("calm", sequence + " has failed though nothing is wrong: " + failure);
        else if (_steps.TroubledAt < sequence.Since - Aftermath)
            CheckCause(sequence, failure);
    }

    /// <summary>The calls of an enumeration fail for the same causes as others, and so does what their grain keeps for it.</summary>
    private void CheckCause(Sequence sequence, Exception failure)
    {
        var ticket = new Ticket(sequence.Id, sequence.Feed, nameof(IFeed.Items), sequence.Consumer, sequence.Since);
        if (ledger.Causes.Of(ticket, failure) is { } excuse)
            ledger.Excuses.Say(excuse);
        else
            ledger.Accuse("causeless", sequence + " has failed, and nothing was wrong then or shortly before: " + failure);
    }

    /// <summary>Nothing is wrong, and the consumer has ended a while ago.</summary>
    private void CheckClosed(Sequence sequence)
    {
        if (sequence is { HeldBy: { IsDead: false } machine, IsDeaf: false })
            ledger.Accuse("held", sequence + " is still held by " + machine.Name + " though its consumer has ended.");
    }
}
