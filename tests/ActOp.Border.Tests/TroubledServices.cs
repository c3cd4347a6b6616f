using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using ActOp.TestClusters;
using Microsoft.Extensions.Logging;
using Orleans.BroadcastChannel;
using Orleans.GrainReferences;
using Orleans.LeaseProviders;
using Orleans.Metadata;
using Orleans.Providers;
using Orleans.Runtime.GrainDirectory;
using Orleans.Runtime.Messaging;
using Orleans.Runtime.Services;
using Orleans.Services;
using Orleans.Statistics;
using Orleans.Versions.Compatibility;
using Orleans.Versions.Selector;

namespace ActOp.Border.Tests;

/// <summary>A silo and a client with services of the application that do wrong when a test plans it.</summary>
public sealed class TroubledServices() : ClusterFixture(1)
{
    internal LogCapture Log { get; } = new();

    protected override void ConfigureSilo(ISiloBuilder silo)
    {
        var services = silo.Services;
        services.AddSingleton<ILoggerProvider>(Log);
        silo.Configure<SiloMessagingOptions>(static options => options.ResponseTimeout = TimeSpan.FromSeconds(2));
        silo.AddBroadcastChannel("channel", static (BroadcastChannelOptions options) => options.FireAndForgetDelivery = false);
        services.AddSingleton<IChannelNamespacePredicateProvider, ChannelPredicates>();
        services.AddKeyedSingleton<IChannelIdMapper, ChannelMapper>("troubled channels");
        services.AddKeyedSingleton<IControllable>("commands", new Commands());
        services.AddSingleton<IOverloadDetector, Detector>();
        services.AddSingleton<IEnvironmentStatisticsProvider, Statistics>();
        silo.AddReminders();
        services.AddSingleton<IReminderTable>(new Table());
        silo.Configure<ReminderOptions>(static options =>
        {
            options.MinimumReminderPeriod = TimeSpan.Zero;
            options.RefreshReminderListPeriod = TimeSpan.FromMilliseconds(100);
        });
        silo.AddGrainService<TroubledService>();
        services.AddSingleton<IGrainInterfacePropertiesProvider, Versions>();
        services.AddKeyedSingleton<VersionSelectorStrategy>("border", new SelectorStrategy());
        services.AddKeyedSingleton<IVersionSelector, Selector>(typeof(SelectorStrategy));
        services.AddKeyedSingleton<CompatibilityStrategy>("border", new Compatibility());
        services.AddKeyedSingleton<ICompatibilityDirector, Director>(typeof(Compatibility));
        silo.Configure<GrainVersioningOptions>(static options =>
            options.DefaultVersionSelectorStrategy = options.DefaultCompatibilityStrategy = "border");
        services.AddSingleton<IGrainDirectoryCache, Cache>();
        silo.Configure<GrainDirectoryOptions>(
            static options => options.CachingStrategy = GrainDirectoryOptions.CachingStrategyType.Custom);
        services.AddSingleton<IGrainReferenceActivatorProvider, References>();
        services.AddSingleton<ILeaseProvider, Leases>();
        silo.AddMemoryGrainStorage("PubSubStore").AddMemoryStreams("leased", static streams =>
        {
            streams.ConfigurePartitioning(2);
            streams.UseLeaseBasedQueueBalancer(static options => options.Configure(static one =>
                (one.LeaseLength, one.LeaseRenewPeriod, one.LeaseAcquisitionPeriod) = (
                    TimeSpan.FromMilliseconds(600), TimeSpan.FromMilliseconds(200), TimeSpan.FromMilliseconds(50))));
        });
    }

    private sealed class ChannelPredicates : IChannelNamespacePredicateProvider
    {
        public bool TryGetPredicate(string predicatePattern, [NotNullWhen(true)] out IChannelNamespacePredicate? predicate) =>
            throw new FormatException(Mischief.Word);
    }

    private sealed class ChannelMapper : IChannelIdMapper
    {
        public IdSpan GetGrainKeyId(GrainBindings grainBindings, ChannelId streamId) =>
            Mischief.Does("mapper of channels") ? IdSpan.Create(System.Text.Encoding.UTF8.GetString(streamId.Key.Span)) : default;
    }

    private sealed class Commands : IControllable
    {
        public Task<object?> ExecuteCommand(int command, object? arg) => Mischief.ActAsync<object?>("command", () => 7);
    }

    private sealed class Detector : IOverloadDetector
    {
        public bool IsOverloaded => Mischief.DeedOf("overload detector") switch
        {
            Deed.Throws => throw new FormatException(Mischief.Word),
            Deed.Hangs => Mischief.Hold(),
            _ => false,
        };
    }

    private sealed class Statistics : IEnvironmentStatisticsProvider
    {
        public EnvironmentStatistics GetEnvironmentStatistics() => Mischief.Does("statistics")
            ? new EnvironmentStatistics(1, 1, 1, 1, 99, 99, 100)
            : new EnvironmentStatistics(float.NaN, float.NaN, -1, -1, -1, -1, -1);
    }

    private sealed class Table : IReminderTable
    {
        private readonly ConcurrentDictionary<(GrainId, string), ReminderEntry> _rows = new();
        private int _tag;

        public Task<ReminderTableData> ReadRows(GrainId grainId) =>
            Task.FromResult(new ReminderTableData(_rows.Values.Where(row => row.GrainId.Equals(grainId))));

        public Task<ReminderTableData> ReadRows(uint begin, uint end) => Mischief.ActAsync(
            "rows of reminders", () => new ReminderTableData(_rows.Values.Where(row => IsWithin(row.GrainId, begin, end))),
            () => new ReminderTableData(
                [null!, new ReminderEntry(), .. _rows.Values.Where(row => IsWithin(row.GrainId, begin, end)), null!]));

        public Task<ReminderEntry?> ReadRow(GrainId grainId, string reminderName) =>
            Task.FromResult(_rows.GetValueOrDefault((grainId, reminderName)));

        public Task<string?> UpsertRow(ReminderEntry entry) => entry.GrainId.Key.ToString()!.StartsWith("calm", StringComparison.Ordinal)
            ? Task.FromResult(Write(entry)) : Mischief.ActAsync("write of a reminder", () => Write(entry));

        public Task<bool> RemoveRow(GrainId grainId, string reminderName, string eTag) =>
            Task.FromResult(_rows.TryRemove((grainId, reminderName), out _));

        public Task TestOnlyClearTable() => Task.CompletedTask;

        private static bool IsWithin(GrainId grain, uint begin, uint end) =>
            begin < end ? grain.GetUniformHashCode() > begin && grain.GetUniformHashCode() <= end
                : grain.GetUniformHashCode() > begin || grain.GetUniformHashCode() <= end;

        private string? Write(ReminderEntry entry)
        {
            _rows[(entry.GrainId, entry.ReminderName)] = entry;
            return Interlocked.Increment(ref _tag).ToString(System.Globalization.CultureInfo.InvariantCulture);
        }
    }

    private sealed class Versions : IGrainInterfacePropertiesProvider
    {
        public void Populate(Type interfaceType, GrainInterfaceType grainInterfaceType, Dictionary<string, string> properties)
        {
            if (interfaceType == typeof(IVersionedTrouble))
                properties[WellKnownGrainInterfaceProperties.Version] = "1";
        }
    }

    private sealed class SelectorStrategy : VersionSelectorStrategy;

    private sealed class Compatibility : CompatibilityStrategy;

    private sealed class Selector : IVersionSelector
    {
        public ushort[] GetSuitableVersion(
            ushort requestedVersion, ushort[] availableVersions, ICompatibilityDirector compatibilityDirector)
        {
            compatibilityDirector.IsCompatible(requestedVersion, 2);
            return Mischief.Does("version selector") ? availableVersions : Mischief.DeedOf("version selector") switch
            {
                Deed.ReturnsForeign => [77],
                Deed.DoesNothing => [],
                _ => null!,
            };
        }
    }

    private sealed class Director : ICompatibilityDirector
    {
        public bool IsCompatible(ushort requestedVersion, ushort currentVersion) => Mischief.Does("compatibility director");
    }

    private sealed class Cache : IGrainDirectoryCache
    {
        private readonly ConcurrentDictionary<GrainId, (GrainAddress Address, int Version)> _entries = new();

        public IEnumerable<(GrainAddress ActivationAddress, int Version)> KeyValues => _entries.Values;

        public void AddOrUpdate(GrainAddress value, int version)
        {
            Mischief.Act("directory cache");
            _entries[value.GrainId] = (value, version);
        }

        public void Clear() => _entries.Clear();

        public bool LookUp(GrainId key, [NotNullWhen(true)] out GrainAddress? result, out int version)
        {
            var isKnown = _entries.TryGetValue(key, out var entry);
            (result, version) = entry;
            if (Mischief.Does("directory cache"))
                return isKnown;
            result = Mischief.DeedOf("directory cache") is Deed.ReturnsNull ? null! : new GrainAddress
            {
                GrainId = key,
                ActivationId = ActivationId.NewId(),
                SiloAddress = SiloAddress.New(System.Net.IPAddress.Loopback, 1, 1),
            };
            return true;
        }

        public bool Remove(GrainAddress key) => _entries.TryRemove(key.GrainId, out _);

        public bool Remove(GrainId key) => _entries.TryRemove(key, out _);
    }

    private sealed class References : IGrainReferenceActivatorProvider, IGrainReferenceActivator
    {
        public bool TryGet(GrainType grainType, GrainInterfaceType interfaceType, out IGrainReferenceActivator? activator)
        {
            activator = null;
            if (interfaceType.ToString() == typeof(IReferredTrouble).FullName)
                Mischief.Act("provider of references");
            if (interfaceType.ToString() != typeof(IMadeTrouble).FullName)
                return false;
            activator = this;
            return true;
        }

        public GrainReference CreateReference(GrainId grainId)
        {
            Mischief.Act("maker of references");
            return null!;
        }
    }

    private sealed class Leases : ILeaseProvider
    {
        public Task<AcquireLeaseResult[]> Acquire(string category, LeaseRequest[] leaseRequests) => Answer(
            leaseRequests.Select(static one => new AcquiredLease(one.ResourceKey, one.Duration, "token", DateTime.UtcNow)));

        public Task Release(string category, AcquiredLease[] aquiredLeases) => Mischief.ActAsync("leases");

        public Task<AcquireLeaseResult[]> Renew(string category, AcquiredLease[] aquiredLeases) => Answer(aquiredLeases);

        private static Task<AcquireLeaseResult[]> Answer(IEnumerable<AcquiredLease> leases) => Mischief.ActAsync<AcquireLeaseResult[]>(
            "leases", () => [.. leases.Select(static one => new AcquireLeaseResult(one, ResponseCode.OK, null))], static () => [null!]);
    }
}

public interface IVersionedTrouble : IGrainWithStringKey
{
    Task Ask();
}

public interface IReferredTrouble : IGrainWithStringKey
{
    Task Ask();
}

public interface IMadeTrouble : IGrainWithStringKey
{
    Task Ask();
}

public interface IServiceTrouble : IGrainWithStringKey
{
    Task Ask();

    Task Remind();

    Task Refer();

    Task ReferToMade();

    Task Serve();
}

public interface ITroubledService : IGrainService
{
    Task Ask();
}

public sealed class TroubledService(GrainId id, Silo silo, ILoggerFactory loggers) : GrainService(id, silo, loggers), ITroubledService
{
    public Task Ask() => Mischief.ActAsync("grain service");

    public override Task Stop() => Mischief.ActAsync("stop of a grain service");
}

public sealed class TroubledServiceClient(IServiceProvider services) : GrainServiceClient<ITroubledService>(services)
{
    public Task Ask(SiloAddress silo) => GetGrainService(silo).Ask();
}

public sealed class ServiceTrouble(IServiceProvider services, ILocalSiloDetails silo)
    : Grain, IServiceTrouble, IVersionedTrouble, IReferredTrouble, IMadeTrouble, IRemindable
{
    internal static readonly ConcurrentDictionary<string, TaskCompletionSource> Ticks = new();

    public Task Ask() => Task.CompletedTask;

    public Task Remind() => this.RegisterOrUpdateReminder("soon", TimeSpan.Zero, TimeSpan.FromMilliseconds(100));

    public Task Refer() => GrainFactory.GetGrain<IReferredTrouble>(this.GetPrimaryKeyString() + " other").Ask();

    public Task ReferToMade() => GrainFactory.GetGrain<IMadeTrouble>(this.GetPrimaryKeyString() + " made").Ask();

    public Task Serve() => new TroubledServiceClient(services).Ask(silo.SiloAddress);

    public Task ReceiveReminder(string reminderName, TickStatus status)
    {
        Ticks.GetOrAdd(this.GetPrimaryKeyString(), static _ => new TaskCompletionSource()).TrySetResult();
        return Task.CompletedTask;
    }
}

/// <summary>Made by the runtime, by its type.</summary>
public sealed class TroubledChannelPredicate : IChannelNamespacePredicate
{
    public string PredicatePattern => ConstructorChannelNamespacePredicateProvider.FormatPattern(typeof(TroubledChannelPredicate), null);

    public bool IsMatch(string streamNamespace)
    {
        var isAsked = streamNamespace.StartsWith("troubled channel", StringComparison.Ordinal);
        if (isAsked)
            Mischief.Act("predicate of channels");
        return isAsked;
    }
}

public interface IChannelTrouble : IGrainWithStringKey;

[ImplicitChannelSubscription(typeof(TroubledChannelPredicate), "troubled channels")]
public sealed class ChannelTrouble : Grain, IChannelTrouble, IOnBroadcastChannelSubscribed
{
    public async Task OnSubscribed(IBroadcastChannelSubscription streamSubscription)
    {
        var deed = Mischief.PlannedDeed;
        await Mischief.ActAsync("subscription to a channel");
        if (deed is not Deed.DoesNothing)
            await streamSubscription.Attach<string>(static _ => Mischief.ActAsync("item of a channel"));
    }
}

[RegexImplicitChannelSubscription("^troubled channel")]
public sealed class ChannelCalm : Grain, IChannelTrouble, IOnBroadcastChannelSubscribed
{
    public Task OnSubscribed(IBroadcastChannelSubscription streamSubscription) => streamSubscription.Attach<string>(static item =>
    {
        Box.Put(item, item);
        return Task.CompletedTask;
    });
}
