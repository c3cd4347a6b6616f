using Orleans.Configuration;
using Orleans.Providers;

namespace ActOp.Planted;

/// <summary>An invoice that is paid when it is due: by a reminder, which ends then.</summary>
public interface IInvoice : IGrainWithStringKey
{
    Task Open(int amount);
}

/// <summary>Pays with each tick.</summary>
public interface IForgetfulInvoice : IInvoice;

/// <summary>Pays under the number of the invoice, however often it is told.</summary>
public interface INumberedInvoice : IInvoice;

/// <summary>What was paid.</summary>
public interface IPayments : IGrainWithStringKey
{
    Task Pay(string number, int amount);

    Task<int> GetSum();
}

[GenerateSerializer]
public sealed class PaymentState
{
    [Id(0)]
    public Dictionary<string, int> Payments { get; set; } = [];
}

[StorageProvider(ProviderName = "payments")]
public sealed class Payments : CarefulGrain<PaymentState>, IPayments
{
    public async Task Pay(string number, int amount)
    {
        if (State.Payments.TryAdd(number, amount))
            await WriteOrReadAsync();
    }

    public Task<int> GetSum() => Task.FromResult(State.Payments.Values.Sum());
}

/// <summary>What both invoices do.</summary>
public abstract class Invoice : Grain, IRemindable
{
    public Task Open(int amount) => this.RegisterOrUpdateReminder("due " + amount, TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(2));

    public async Task ReceiveReminder(string reminderName, TickStatus status)
    {
        var amount = int.Parse(reminderName.Split(' ')[1], System.Globalization.CultureInfo.InvariantCulture);
        await GrainFactory.GetGrain<IPayments>("all").Pay(NumberOf(status), amount);
        if (await this.GetReminder(reminderName) is { } reminder)
            await this.UnregisterReminder(reminder);
    }

    protected abstract string NumberOf(TickStatus status);
}

public sealed class ForgetfulInvoice : Invoice, IForgetfulInvoice
{
    protected override string NumberOf(TickStatus status) => this.GetPrimaryKeyString() + " at " + status.CurrentTickTime.Ticks;
}

public sealed class NumberedInvoice : Invoice, INumberedInvoice
{
    protected override string NumberOf(TickStatus status) => this.GetPrimaryKeyString();
}

/// <summary>A tick that has paid and whose silo ends before the reminder does is followed by another one.</summary>
internal static class InvoiceFaults
{
    internal static PlantedFault Fault { get; } = new(
        "invoice", "a reminder pays twice", PayAsync<IForgetfulInvoice>, PayAsync<INumberedInvoice>, "were paid", 1, 3);

    private static async Task PayAsync<TInvoice>(SimulationWorld world)
        where TInvoice : IInvoice
    {
        world.Silos.Configure(silo =>
        {
            silo.AddMemoryGrainStorage("payments").UseInMemoryReminderService();
            silo.Configure<ReminderOptions>(options => options.MinimumReminderPeriod = TimeSpan.FromSeconds(1));
        });
        world.RandomFaults(crash: true, storage: true);
        await world.Start();
        var open = 0;
        for (var invoice = 0; invoice < 3; invoice++)
        {
            var grain = world.Grains.GetGrain<TInvoice>("invoice" + invoice);
            await world.Command("open an invoice", async () =>
            {
                open += 10;
                await PlantedFault.RetryAsync(world, () => grain.Open(10));
            });
        }

        await world.Delay(TimeSpan.FromSeconds(4));
        await world.Settle();
        await world.Delay(TimeSpan.FromSeconds(6));
        var sum = await world.Grains.GetGrain<IPayments>("all").GetSum();
        world.Check(sum == open, sum + " were paid for invoices of " + open + ".");
    }
}
