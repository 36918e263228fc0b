//! Arguments of the kernel command line, from all of its files.

use tests::machine::Machine;

use super::marked;

fn named(line: &str) -> Machine {
    Machine::with_card()
        .command_line(line)
        .host("first", &marked("one"))
        .host("second", &marked("two"))
        .host("cluster", &marked("all"))
}

/// The virtual interface of the chosen document.
fn chosen(machine: &Machine) -> Vec<String> {
    machine.boot().exits(0);
    machine.early()
}

#[tests::case]
fn they_are_read_from_every_file_that_dracut_reads() {
    let machine = named("quiet\n").file("etc/cmdline.d/10-host.conf", "nmgen.host=first");
    assert_eq!(chosen(&machine), ["one"]);
    machine.write("etc/cmdline.d/20-host.conf", "nmgen.host=second\n");
    machine.write("etc/cmdline.d/30-host.conf~", "nmgen.host=nobody\n");
    assert_eq!(chosen(&machine), ["two"]);
    machine.write("etc/cmdline", "nmgen.host=first\n");
    assert_eq!(chosen(&machine), ["one"]);
    // The kernel's own wins over the image's.
    machine.write("proc/cmdline", "nmgen.host=second\n");
    assert_eq!(chosen(&machine), ["two"]);
    machine.write("run/initramfs/cmdline.d/x.conf", "nmgen.host=first\n");
    assert_eq!(chosen(&machine), ["one"]);
}

#[tests::case]
fn off_leaves_the_boot_as_it_is() {
    let machine = named("nmgen=off nmgen.host=first\n");
    let said = machine.boot();
    assert_eq!(
        (said.code, said.kernel.as_str()),
        (Some(0), "<6>nmgen: nmgen=off: nothing to do\n")
    );
    assert!(machine.is_untouched());
}
