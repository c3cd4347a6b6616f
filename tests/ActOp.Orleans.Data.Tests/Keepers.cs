using System.Globalization;
using System.Net;
using Orleans;
using Orleans.Concurrency;
using Orleans.Runtime;

namespace ActOp.Orleans.Data.Tests;

/// <summary>A grain whose states and reminders one runtime writes and the other one reads. Compiled for both.</summary>
public interface IKeeper : IGrain
{
    /// <summary>Changes both states and writes them; returns what they are then.</summary>
    Task<string> Write(string text);

    /// <summary>What both states are.</summary>
    Task<string> Read();

    /// <summary>Clears both; returns what they are then.</summary>
    Task<string> Clear();

    /// <summary>Makes or replaces a reminder.</summary>
    Task Remind(string name, TimeSpan due, TimeSpan period);

    /// <summary>Ends a reminder.</summary>
    Task Forget(string name);

    /// <summary>The names of the reminders.</summary>
    Task<string> Reminders();

    /// <summary>Completes when a reminder has come; returns its name, its start and its period.</summary>
    [AlwaysInterleave]
    Task<string> Reminded();
}

public interface INumberKeeper : IGrainWithIntegerKey, IKeeper;

public interface IGuidKeeper : IGrainWithGuidKey, IKeeper;

public interface ITextKeeper : IGrainWithStringKey, IKeeper;

public interface INumberAndTextKeeper : IGrainWithIntegerCompoundKey, IKeeper;

public interface IGuidAndTextKeeper : IGrainWithGuidCompoundKey, IKeeper;

/// <summary>The state that is written as JSON.</summary>
[GenerateSerializer]
public sealed class Kept
{
    [Id(0)] public int Count { get; set; }

    [Id(1)] public string? Text { get; set; }

    [Id(2)] public List<string> Items { get; set; } = [];

    [Id(3)] public Dictionary<string, Kept> Parts { get; set; } = [];

    [Id(4)] public DateTime At { get; set; }

    [Id(5)] public Guid Guid { get; set; }

    [Id(6)] public decimal Amount { get; set; }

    [Id(7)] public byte[]? Bytes { get; set; }

    [Id(8)] public Shape? Shape { get; set; }

    [Id(9)] public Kept? Self { get; set; }

    [Id(10)] public GrainId Id { get; set; }

    [Id(11)] public ITextKeeper? Friend { get; set; }

    [Id(12)] public IPEndPoint? EndPoint { get; set; }

    [Id(13)] public SiloAddress? Silo { get; set; }

    [Id(14)] public int? Maybe { get; set; }

    [Id(15)] public Shape[]? Shapes { get; set; }

    public override string ToString() => string.Create(CultureInfo.InvariantCulture,
        $"{Count} {Text} [{string.Join(',', Items)}] [{string.Join(',', Parts.Select(static part => part.Key + "=" + part.Value.Text))}] "
        + $"{At:O} {Guid} {Amount} {(Bytes is null ? "" : Convert.ToHexString(Bytes))} {Shape} {ReferenceEquals(this, Self)} "
        + $"{(Id.IsDefault ? "" : Id.ToString())} "
        + $"{Friend?.GetGrainId()} {EndPoint} {Silo?.ToParsableString()} {Maybe} {string.Join<Shape>(',', Shapes ?? [])}");
}

[GenerateSerializer]
public abstract class Shape
{
    [Id(0)] public string? Name { get; set; }

    public override string ToString() => GetType().Name + ":" + Name;
}

[GenerateSerializer]
public sealed class Circle : Shape
{
    [Id(0)] public double Radius { get; set; }

    public override string ToString() => base.ToString() + ":" + Radius.ToString(CultureInfo.InvariantCulture);
}

/// <summary>The state that is written as bytes, by the serializer of the application.</summary>
[GenerateSerializer]
public sealed class Packed
{
    [Id(0)] public int Count { get; set; }

    [Id(1)] public string Text { get; set; } = "";
}

public abstract class Keeper(IPersistentState<Kept> json, IPersistentState<Packed> packed, IGrainFactory grains)
    : Grain, IKeeper, IRemindable
{
    private readonly TaskCompletionSource<string> _reminded = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public async Task<string> Write(string text)
    {
        var state = json.State;
        state.Count++;
        state.Text = text;
        state.Items.Add(text);
        state.Parts[text] = new Kept { Text = text + "!" };
        state.At = new DateTime(2026, 11, 27, 1, 2, 3, 456, DateTimeKind.Utc).AddTicks(7);
        state.Guid = new Guid("01234567-89ab-cdef-0123-456789abcdef");
        state.Amount = 1234567890.12345m;
        state.Bytes = [0, 1, 255];
        state.Shape = new Circle { Name = text, Radius = 0.1 };
        state.Self = state;
        state.Id = this.GetGrainId();
        state.Friend = grains.GetGrain<ITextKeeper>("friend of " + text);
        state.EndPoint = new IPEndPoint(IPAddress.Parse("10.1.2.3"), 4711);
        state.Silo = SiloAddress.FromParsableString("127.0.0.1:11@12");
        state.Maybe = 7;
        state.Shapes = [new Circle { Name = "first" }, state.Shape];
        await json.WriteStateAsync();
        packed.State.Count++;
        packed.State.Text = text;
        await packed.WriteStateAsync();
        return await Read();
    }

    public Task<string> Read() => Task.FromResult($"{json.RecordExists} {json.Etag} {json.State} | {packed.RecordExists} {packed.Etag} "
        + $"{packed.State.Count} {packed.State.Text}");

    public async Task<string> Clear()
    {
        await json.ClearStateAsync();
        await packed.ClearStateAsync();
        return await Read();
    }

    public Task Remind(string name, TimeSpan due, TimeSpan period) => this.RegisterOrUpdateReminder(name, due, period);

    public async Task Forget(string name) => await this.UnregisterReminder((await this.GetReminder(name))!);

    public async Task<string> Reminders() => string.Join(',', (await this.GetReminders()).Select(static one => one.ReminderName).Order());

    public Task<string> Reminded() => _reminded.Task;

    public Task ReceiveReminder(string reminderName, TickStatus status)
    {
        _reminded.TrySetResult(string.Create(CultureInfo.InvariantCulture, $"{reminderName} {status.FirstTickTime:O} {status.Period}"));
        return Task.CompletedTask;
    }
}

public sealed class NumberKeeper(
    [PersistentState("kept", "json")] IPersistentState<Kept> json, [PersistentState("bytes", "packed")] IPersistentState<Packed> packed,
    IGrainFactory grains) : Keeper(json, packed, grains), INumberKeeper;

public sealed class GuidKeeper(
    [PersistentState("kept", "json")] IPersistentState<Kept> json, [PersistentState("bytes", "packed")] IPersistentState<Packed> packed,
    IGrainFactory grains) : Keeper(json, packed, grains), IGuidKeeper;

public sealed class TextKeeper(
    [PersistentState("kept", "json")] IPersistentState<Kept> json, [PersistentState("bytes", "packed")] IPersistentState<Packed> packed,
    IGrainFactory grains) : Keeper(json, packed, grains), ITextKeeper;

public sealed class NumberAndTextKeeper(
    [PersistentState("kept", "json")] IPersistentState<Kept> json, [PersistentState("bytes", "packed")] IPersistentState<Packed> packed,
    IGrainFactory grains) : Keeper(json, packed, grains), INumberAndTextKeeper;

public sealed class GuidAndTextKeeper(
    [PersistentState("kept", "json")] IPersistentState<Kept> json, [PersistentState("bytes", "packed")] IPersistentState<Packed> packed,
    IGrainFactory grains) : Keeper(json, packed, grains), IGuidAndTextKeeper;
