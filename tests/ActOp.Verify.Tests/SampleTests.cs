using ActOp.Planted;
using Chat;
using Shop;

namespace ActOp.Verify.Tests;

/// <summary>What the samples Shop and Chat promise.</summary>
public sealed class SampleTests
{
    private const int Seeds = 60;
    private const int InStock = 20;

    [Fact]
    public async Task No_piece_of_the_shop_is_lost_or_sold_twice_when_writes_fail()
    {
        var report = await Simulation.Explore(Seeds, static world => SellAsync(world, isCalm: true));
        Assert.True(report.Situations["a cart's write fails"] > 0);
    }

    [Fact]
    public Task No_piece_of_the_shop_is_sold_twice_whatever_happens() => Simulation.Explore(Seeds, static world => SellAsync(world, isCalm: false));

    [Fact]
    public Task Each_listener_of_a_room_hears_each_message_once_and_in_order() => Simulation.Explore(Seeds, static async world =>
    {
        world.Silos.Configure(static silo => silo.AddMemoryGrainStorage("PubSubStore").AddMemoryStreams(RoomGrain.Provider));
        world.ConfigureClient(static client => client.AddMemoryStreams(RoomGrain.Provider));
        world.RandomFaults(moves: true);
        await world.Start();
        using var isOver = new CancellationTokenSource();
        var heard = new List<int>[2];
        var listeners = Enumerable.Range(0, heard.Length).Select(number => world.Run("listener " + number, async () =>
        {
            heard[number] = [];
            try
            {
                await foreach (var message in RoomEvents.ListenAsync(world.Client, "lobby", "listener " + number, isOver.Token))
                {
                    if (message.Author == "ada")
                        heard[number].Add(int.Parse(message.Text, System.Globalization.CultureInfo.InvariantCulture));
                }
            }
            catch (OperationCanceledException)
            {
                // The browser has gone.
            }
        })).ToArray();
        await world.Delay(TimeSpan.FromSeconds(2));
        var room = world.Grains.GetGrain<IRoomGrain>("lobby");
        for (var number = 1; number <= 6; number++)
        {
            var text = number.ToString(System.Globalization.CultureInfo.InvariantCulture);
            await world.Command("say " + text, () => room.Say("ada", text));
        }

        await world.Delay(TimeSpan.FromSeconds(5));
        await isOver.CancelAsync();
        await Task.WhenAll(listeners);
        foreach (var list in heard)
            world.Check(list.SequenceEqual(Enumerable.Range(1, 6)), "A listener has heard " + string.Join(", ", list) + ".");
    });

    /// <summary>Three customers take, put back and buy.</summary>
    private static async Task SellAsync(SimulationWorld world, bool isCalm)
    {
        world.Silos.Configure(static silo => silo.AddMemoryGrainStorage("shop"));
        world.RandomFaults(crash: !isCalm, storage: !isCalm);
        await world.Start();
        var product = world.Grains.GetGrain<IProductGrain>("tea");
        await PlantedFault.RetryAsync(world, () => product.Put("Tea", 2.5m, InStock));
        var carts = Enumerable.Range(0, 3).Select(customer => world.Grains.GetGrain<ICartGrain>("customer" + customer)).ToArray();
        var sold = 0;
        for (var number = 0; number < 12; number++)
        {
            var (cart, verb, pieces) = (carts[world.Random.Next(carts.Length)], world.Random.Next(4), world.Random.Next(1, 5));
            var (fails, isDone) = (world.Random.Next(4), world.Random.Next(2) == 0);
            await world.Command((verb < 2 ? "take " + pieces : verb == 2 ? "put back" : "buy") + " for " + cart.GetPrimaryKeyString(), async () =>
            {
                // The first write of the command fails, or that of the cart; with one write in doubt, nothing is lost.
                var barrier = world.Barrier(isCalm && fails == 0 ? "writes" : isCalm && fails == 1 ? "writes cart" : "nowhere");
                var call = verb < 2 ? TakeAsync(cart, pieces) : verb == 2 ? cart.Remove("tea") : BuyAsync(cart);
                await Task.WhenAny(barrier.Reached, call);
                world.Sometimes(!isCalm || (barrier.Waiting > 0 && fails == 1), "a cart's write fails");
                if (barrier.Waiting > 0)
                    world.Faults.FailNextWrite(isDone);
                barrier.Release();
                try
                {
                    await call;
                }
                catch (Exception exception) when (exception is not SimulationException)
                {
                    world.Note("tells its customer: " + exception.GetType().Name);
                }
            });
        }

        await world.Settle();
        var (inStock, inCarts) = (0, 0);
        await PlantedFault.RetryAsync(world, async () => inStock = (await product.Get())!.InStock);
        foreach (var cart in carts)
            await PlantedFault.RetryAsync(world, async () => inCarts += (await cart.Get()).Sum(static item => item.Quantity));
        var sum = inStock + inCarts + sold;
        world.Check(inStock >= 0 && (isCalm ? sum == InStock : sum <= InStock),
            "Of " + InStock + " pieces, " + inStock + " are in stock, " + inCarts + " in carts and " + sold + " sold.");

        static async Task TakeAsync(ICartGrain cart, int pieces) => await cart.TryAdd("tea", pieces);

        async Task BuyAsync(ICartGrain cart) => sold += (await cart.CheckOut()).Sum(static item => item.Quantity);
    }
}
