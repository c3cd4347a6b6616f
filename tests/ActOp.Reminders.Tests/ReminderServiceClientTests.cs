using ActOp.TestClusters;
using Orleans.Runtime.Services;
using Orleans.Timers;

namespace ActOp.Reminders.Tests;

/// <summary>Silos with reminders and a client of the reminder service of the application.</summary>
public sealed class SilosWithReminderClient() : ClusterFixture(2)
{
    protected override void ConfigureSilo(ISiloBuilder silo)
    {
        silo.UseInMemoryReminderService();
        silo.AddIncomingGrainCallFilter<SiloFilter>();
    }

    /// <summary>Its constructor asks for the silo.</summary>
    public sealed class SiloFilter(Silo silo) : IIncomingGrainCallFilter
    {
        public Task Invoke(IIncomingGrainCallContext context)
        {
            RequestContext.Set("silo", silo.SiloAddress.ToParsableString());
            return context.Invoke();
        }
    }
}

/// <summary>The reminder service as a grain service: applications have registries of their own in front of it.</summary>
public class ReminderServiceClientTests(SilosWithReminderClient cluster) : IClassFixture<SilosWithReminderClient>
{
    [Fact]
    public async Task A_client_of_the_reminder_service_registers_finds_and_ends_reminders_with_any_period()
    {
        // More than one grain, so that both silos are responsible for some.
        foreach (var grain in Enumerable.Range(0, 8).Select(_ => cluster.Client.GetGrain<IPlainReminded>(Guid.NewGuid())))
        {
            Assert.Equal(["short"], await grain.RegisterThroughService("short", TimeSpan.FromMinutes(5), TimeSpan.FromSeconds(1)));
            Assert.Equal("short", await grain.FindThroughService("short"));
            await grain.EndThroughService("short");
            Assert.Null(await grain.FindThroughService("short"));
        }
    }

    [Fact]
    public async Task A_filter_may_ask_for_the_silo()
    {
        var grain = cluster.Client.GetGrain<IPlainReminded>(Guid.NewGuid());
        Assert.Contains(await grain.Silo(), cluster.Cluster.Silos.Select(static silo => silo.SiloAddress.ToParsableString()));
    }
}

public interface IPlainReminded : IGrainWithGuidKey
{
    Task<string[]> RegisterThroughService(string name, TimeSpan due, TimeSpan period);

    Task<string?> FindThroughService(string name);

    Task EndThroughService(string name);

    Task<string> Silo();
}

public sealed class PlainReminded(IServiceProvider services) : Grain, IPlainReminded, IRemindable
{
    private readonly Client _client = new(services);

    public async Task<string[]> RegisterThroughService(string name, TimeSpan due, TimeSpan period)
    {
        await _client.RegisterOrUpdateReminder(GrainContext.GrainId, name, due, period);
        return [.. (await _client.GetReminders(GrainContext.GrainId)).Select(static one => one.ReminderName)];
    }

    public async Task<string?> FindThroughService(string name) => (await _client.GetReminder(GrainContext.GrainId, name))?.ReminderName;

    public async Task EndThroughService(string name) =>
        await _client.UnregisterReminder(GrainContext.GrainId, (await _client.GetReminder(GrainContext.GrainId, name))!);

    public Task<string> Silo() => Task.FromResult((string)RequestContext.Get("silo")!);

    public Task ReceiveReminder(string reminderName, TickStatus status) => Task.CompletedTask;

    private sealed class Client(IServiceProvider services) : GrainServiceClient<IReminderService>(services), IReminderRegistry
    {
        public Task<IGrainReminder> RegisterOrUpdateReminder(
            GrainId callingGrainId, string reminderName, TimeSpan dueTime, TimeSpan period) =>
            GetGrainService(callingGrainId).RegisterOrUpdateReminder(callingGrainId, reminderName, dueTime, period);

        public Task UnregisterReminder(GrainId callingGrainId, IGrainReminder reminder) =>
            GetGrainService(callingGrainId).UnregisterReminder(reminder);

        public Task<IGrainReminder?> GetReminder(GrainId callingGrainId, string reminderName) =>
            GetGrainService(callingGrainId).GetReminder(callingGrainId, reminderName);

        public Task<List<IGrainReminder>> GetReminders(GrainId callingGrainId) =>
            GetGrainService(callingGrainId).GetReminders(callingGrainId);
    }
}
