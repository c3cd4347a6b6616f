using Orleans.Serialization;

namespace ActOp.Serialization.Tests;

public class VersionTests
{
    private static readonly Serializer Serializer = new();

    [Fact]
    public void An_old_reader_skips_members_that_it_does_not_know()
    {
        var read = As<VersionOne>(new VersionTwo
        {
            Kept = 7,
            Added = [1, "x", new Dog(1)],
            Text = "t",
            Id = Guid.NewGuid(),
            Ratio = 1,
            Last = new Animal { Name = "a" }
        });
        Assert.Equal((7, "a"), (read.Kept, read.Last!.Name));
    }

    [Fact]
    public void A_new_reader_keeps_the_defaults_of_members_that_are_missing()
    {
        var read = As<VersionTwo>(new VersionOne { Kept = 7, Last = new Dog { Color = Color.Blue } });
        Assert.Equal((7, "default", Color.Blue), (read.Kept, read.Text, ((Dog)read.Last!).Color));
        Assert.Null(read.Added);
    }

    [Fact]
    public void An_object_and_a_type_name_inside_a_skipped_member_are_found_when_they_are_referred_to()
    {
        var dog = new Dog { Name = "shared", Color = Color.Blue };
        var read = As<VersionOne>(new VersionTwo { Added = [dog], Last = dog, Any = new Dog(2) { Name = "other" } });
        Assert.Equal("shared", Assert.IsType<Dog>(read.Last).Name);
        Assert.Equal("other", Assert.IsType<Dog>(read.Any).Name);
    }

    [Fact]
    public void Numbers_may_be_widened_and_overflow_is_an_error()
    {
        Assert.Equal(int.MinValue, As<VersionTwo>(new VersionOne { Kept = int.MinValue }).Kept);
        Assert.Throws<OverflowException>(() => As<VersionOne>(new VersionTwo { Kept = long.MaxValue }));
    }

    [Fact]
    public void The_wire_is_compact()
    {
        Assert.InRange(Serializer.SerializeToArray(new Point(1, 2, "p")).Length, 6, 13);
        Assert.InRange(Serializer.SerializeToArray(Enumerable.Repeat(1, 100).ToArray()).Length, 101, 105);
        var dogs = Enumerable.Range(0, 100).Select(object (i) => new Dog { Name = "d", Color = Color.Red }).ToArray();
        Assert.InRange(Serializer.SerializeToArray(dogs).Length / 100, 10, 50);
    }

    /// <summary>Reads bytes of one class as another; the header says only "the static type".</summary>
    private static T As<T>(object value)
    {
        var bytes = value is VersionOne one ? Serializer.SerializeToArray(one) : Serializer.SerializeToArray((VersionTwo)value);
        return Serializer.Deserialize<T>(bytes);
    }
}
